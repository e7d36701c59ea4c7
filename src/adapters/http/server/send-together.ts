let end: Promise<void> | undefined;

/**
 * Fulfilled at the end of this turn of the event loop. The responses of a turn are sent one right after
 * the other: a client on the same machine is woken once, and not for each of them. Without it a GET takes
 * a fifth more of the processor's time (64 connections on one machine).
 */
export function endOfTurn(): Promise<void> {
  end ??= new Promise((resolve) => {
    setImmediate(() => {
      end = undefined;
      resolve();
    });
  });
  return end;
}
