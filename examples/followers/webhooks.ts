import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'rostrum-client';
import { Webhook } from 'standardwebhooks';

/** Sends every event to a receiver, in order, until the signal is aborted. */
export async function forward(
  api: string,
  receiver: { readonly url: string; readonly secret: string },
  positions: { load(): Promise<string | undefined>; save(position: string): Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  const client = createClient({ url: api });
  const webhook = new Webhook(receiver.secret);
  const after = await positions.load();
  for await (const { events, next } of client.events.follow({ after, limit: 10 }, { signal })) {
    for (const event of events) {
      const id = `${event.type}.${event.id}.${event.version}`;
      for (let pause = 100; !(await send(id, JSON.stringify(event))); pause *= 2) {
        await sleep(Math.min(pause, 60_000), undefined, { signal });
      }
    }
    await positions.save(next);
  }

  /** Returns true if the receiver accepted the event. */
  async function send(id: string, body: string): Promise<boolean> {
    const now = new Date();
    const headers = {
      'Content-Type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': webhook.sign(id, now, body),
    };
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(5000)]);
    const request = { method: 'POST', body, headers, redirect: 'error', signal: timeout } as const;
    return fetch(receiver.url, request).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
