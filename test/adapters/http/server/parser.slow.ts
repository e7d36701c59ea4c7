// EXAMPLES_NODE=22.18.0 also tests another version of Node.

import { join } from 'node:path';
import { expect } from 'chai';
import { installNode } from '../../../support/install-node.ts';
import { outcomeOf, start } from '../../../support/process.ts';
import { temporaryDirectory } from '../../../support/repository-copy.ts';

describe('the parser of Node, which stops because of the undocumented onIncoming', function () {
  this.timeout(180_000);

  for (const version of [process.versions.node, process.env.EXAMPLES_NODE]) {
    if (version === undefined) continue;
    it(`builds 17 of 2,000 pipelined requests on Node ${version}`, async () => {
      await using folder = await temporaryDirectory();
      const isThis = version === process.versions.node;
      const binary = isThis ? process.execPath : await installNode(version, folder.path);
      const { stdout, output } = await outcomeOf(
        start(binary, [join(import.meta.dirname, 'flood.ts')]),
      );
      expect(stdout, output).to.equal('17\n');
    });
  }
});
