// For `node --import`, as an operator would use it: registers a provider that prints spans to standard output.

import { trace } from '@opentelemetry/api';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

const exporter = {
  export(spans: readonly { readonly name: string }[], done: (result: { code: number }) => void) {
    for (const { name } of spans) process.stdout.write(`span ${name}\n`);
    done({ code: 0 });
  },
  shutdown: async () => {},
};
const spanProcessors = [new SimpleSpanProcessor(exporter)];
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
