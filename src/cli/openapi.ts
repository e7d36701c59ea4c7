import { openApiDocument } from '../adapters/http/index.ts';
import { closeContainer, createContainer, tokens } from '../adapters/inversify/index.ts';
import type { Settings } from '../settings/settings.ts';
import { checkFields, explainStart, type NameOf } from './serve.ts';

/** `rostrum openapi`: what a server with these settings has at `/openapi.json`. Opens no store. */
export async function openApiCommand(settings: Settings, nameOf: NameOf): Promise<void> {
  checkFields(settings, nameOf);
  const container = createContainer({ ...settings, store: 'memory:', logLevel: 'silent' });
  try {
    const { customFilters } = await container.getAsync(tokens.rostrum);
    const document = openApiDocument(customFilters, await container.getAsync(tokens.appOptions));
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  } catch (error) {
    throw explainStart(error, settings, nameOf);
  } finally {
    await closeContainer(container);
  }
}
