import { checkAnswer } from './check-answer.ts';
import { Connection, type RawResponse } from './connection.ts';
import { type Random, randomFrom } from './random.ts';
import { type RawRequest, requestOf } from './requests.ts';

export interface FuzzOptions {
  readonly port: number;
  readonly requests: number;
  readonly seed: number;
  /** Called regularly with the number of requests so far. */
  readonly onProgress?: (made: number) => void;
}

export interface FuzzLedger {
  /** The number of responses per status. 0 counts connections closed without a response. */
  readonly statuses: Record<number, number>;
  /** The failures, with their requests. */
  readonly failures: string[];
}

const connections = 8;

/** Sends random requests concurrently and checks every response against the contract. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzLedger> {
  const { port, requests, seed, onProgress = () => {} } = options;
  const random = randomFrom(seed);
  const ids = ['none'];
  const ledger: FuzzLedger = { statuses: {}, failures: [] };
  let made = 0;

  async function work(connection: Connection): Promise<void> {
    while (made < requests && ledger.failures.length < 20) {
      made++;
      if (made % 5000 === 0) onProgress(made);
      const request = requestOf(random, ids);
      const answer = await connection.send(request).catch((error: Error) => error);
      judge(request, answer, connection.history);
    }
    connection.close();
  }

  function judge(
    request: RawRequest,
    answer: RawResponse | Error | undefined,
    history: readonly string[],
  ): void {
    const status = answer === undefined || answer instanceof Error ? 0 : answer.status;
    ledger.statuses[status] = (ledger.statuses[status] ?? 0) + 1;
    try {
      if (answer instanceof Error) throw answer;
      if (answer !== undefined) {
        checkAnswer(request, answer);
        learn(random, ids, answer);
      } else if (!request.torn && request.method !== 'CONNECT')
        throw new Error('the connection was closed without an answer');
    } catch (error) {
      const shown = request.bytes.subarray(0, 600).toString('latin1');
      const said = JSON.stringify(answer)?.slice(0, 600);
      ledger.failures.push([error, shown, said, 'before it:', ...history].join('\n'));
    }
  }

  await Promise.all(Array.from({ length: connections }, () => work(new Connection(port))));
  return ledger;
}

/** Remembers some ids of created records for later requests. */
function learn(random: Random, ids: string[], { status, body }: RawResponse): void {
  if (status !== 201 || body === '') return;
  const id: string = JSON.parse(body).id;
  if (ids.length < 50) ids.push(id);
  else ids[1 + random.int(49)] = id;
}
