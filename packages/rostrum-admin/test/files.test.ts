import { expect } from 'chai';
import { staticFiles } from '../src/index.ts';

describe('the files of the admin page', () => {
  it('are plain JavaScript modules that only import each other', async () => {
    expect([...staticFiles.keys()]).to.include.members(['index.html', 'admin.css', 'admin.js']);
    for (const [path, { type, read }] of staticFiles) {
      const text = await read();
      if (!path.endsWith('.js')) continue;
      expect(type).to.equal('text/javascript; charset=utf-8');
      expect(text, path).not.to.match(/^(?:import type|interface|type) /m);
      for (const [, name = ''] of text.matchAll(/(?:from|import)\s*['"]([^'"]+)['"]/g)) {
        const imported = new URL(name, `http://x/${path}`).pathname.slice(1);
        expect([...staticFiles.keys()], `${path} imports ${name}`).to.include(imported);
      }
    }
  });

  it('are all loaded from this server', async () => {
    const html = (await staticFiles.get('index.html')?.read()) ?? '';
    expect(html).not.to.match(/https?:|<script>|style=/);
    const loaded = [...html.matchAll(/(?:src|href)="admin\/([^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    expect([...staticFiles.keys()]).to.include.members(loaded);
  });
});
