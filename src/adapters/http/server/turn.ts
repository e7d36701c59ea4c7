// What goes round Koa or Node for the sake of speed. Each says what it gains.

let end: Promise<void> | undefined;

/**
 * Fulfilled at the end of this turn of the event loop. The responses of a turn are sent one right after
 * the other: a client on the same machine is woken once, and not for each of them.
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
