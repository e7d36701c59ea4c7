import { openApiDocument } from '../adapters/http/index.ts';
import { closeContainer, createContainer, tokens } from '../adapters/inversify/index.ts';
import type { Settings } from '../settings/settings.ts';
import { explainStart, type FlagOrVariableOf } from './serve.ts';

/** `rostrum openapi`: prints the `/openapi.json` of a server with these settings, without opening its store. */
export async function openApiCommand(
  settings: Settings,
  flagOrVariableOf: FlagOrVariableOf,
): Promise<void> {
  const container = createContainer({ ...settings, store: 'memory:', logLevel: 'silent' });
  try {
    const { declaredFields } = await container.getAsync(tokens.rostrum);
    const document = openApiDocument(declaredFields, await container.getAsync(tokens.appOptions));
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  } catch (error) {
    throw explainStart(error, settings, flagOrVariableOf);
  } finally {
    await closeContainer(container);
  }
}
