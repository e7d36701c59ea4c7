// Generates clients from the description of a real server, and uses them. The generators come from the package
// registries; pip, Go, Java and Maven must be on the PATH.

import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { npm, type Outcome, outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { sendJson, startServer } from '../support/server.ts';

interface Generator {
  readonly name: string;
  /** Programs that must be on the PATH. */
  readonly needs: readonly string[];
  /** Written into the folder before the steps. $SERVER and $API stand for URLs. */
  readonly files: Readonly<Record<string, string>>;
  /** Commands. A failing `install` skips the test: the package cannot be downloaded. */
  readonly install: readonly string[];
  readonly generate: string;
  /** The last one prints the created post, the patched one and the list, each as a line "id title". */
  readonly run: readonly string[];
}

const node = process.execPath;
const compile = `${node} ${join(repository, 'node_modules/typescript/bin/tsc')} --ignoreConfig --noEmit --strict --target es2022 --module nodenext --types  --allowImportingTsExtensions program.ts`;
const orval = join(repository, 'node_modules/orval/dist/bin/orval.mjs');
const python = 'python/bin/python';
const pip = (...names: readonly string[]) => [
  'python3 -m venv python',
  `${python} -m pip install -q ${names.join(' ')}`,
];
/** Contains the jar. */
const openapiGenerator = 'openapi-generator-cli==7.26.0';

/**
 * Limits of openapi-generator 7.26, which it reports for valid descriptions: it has no name for the schema `true`,
 * ignores `examples`, and cannot make up an example for every pattern.
 */
const limits = [
  /^.* OpenAPI 3\.1 support is still in beta\..*$/gm,
  /^.* Failed to get the schema name: null$/gm,
  /^.* Ignoring complex example on request body$/gm,
  /^.* Error in generating `example` for the property (?:name|title)\. .*$/gm,
];

const generators: readonly Generator[] = [
  {
    name: 'openapi-python-client',
    needs: ['python3'],
    install: pip('openapi-python-client==0.29.1'),
    generate: `${python} -m openapi_python_client generate --url $SERVER/openapi.json --meta none --output-path api`,
    run: [`${python} program.py`],
    files: {
      'program.py': `
from api import Client
from api.api.posts import create_post, list_posts, patch_post
from api.models import PostInput, PostPatch

client = Client(base_url="$API")
post = create_post.sync(client=client, body=PostInput(title="First"))
print(post.id, post.title)
post = patch_post.sync(post.id, client=client, body=PostPatch(title="Second"))
print(post.id, post.title)
for post in list_posts.sync(client=client).posts:
    print(post.id, post.title)
`,
    },
  },
  {
    name: 'openapi-generator (python)',
    needs: ['python3', 'java'],
    install: pip(openapiGenerator, 'pydantic==2.14.4', 'python-dateutil==4.0.0', 'urllib3==2.8.0'),
    generate: 'openapi-generator-cli generate -i $SERVER/openapi.json -g python -o .',
    run: [`${python} program.py`],
    files: {
      'program.py': `
from openapi_client import ApiClient, Configuration, PostInput, PostPatch, PostsApi

posts = PostsApi(ApiClient(Configuration(host="$API")))
post = posts.create_post(PostInput(title="First"))
print(post.id, post.title)
post = posts.patch_post(post.id, PostPatch(title="Second"))
print(post.id, post.title)
for post in posts.list_posts().posts:
    print(post.id, post.title)
`,
    },
  },
  {
    name: 'openapi-generator (go)',
    needs: ['python3', 'java', 'go'],
    install: pip(openapiGenerator),
    generate:
      'openapi-generator-cli generate -i $SERVER/openapi.json -g go -o . --package-name main',
    run: ['go mod tidy', 'go run .'],
    files: {
      'program.go': `
package main

import ("context"; "fmt")

func main() {
	ctx := context.Background()
	config := NewConfiguration()
	config.Servers[0].URL = "$API"
	posts := NewAPIClient(config).PostsAPI
	made, _, err := posts.CreatePost(ctx).PostInput(*NewPostInput("First")).Execute()
	if err != nil { panic(err) }
	fmt.Println(made.GetId(), made.GetTitle())
	patch := NewPostPatch()
	patch.SetTitle("Second")
	changed, _, err := posts.PatchPost(ctx, made.GetId()).PostPatch(*patch).Execute()
	if err != nil { panic(err) }
	fmt.Println(changed.GetId(), changed.GetTitle())
	list, _, err := posts.ListPosts(ctx).Execute()
	if err != nil { panic(err) }
	for _, post := range list.Posts { fmt.Println(post.GetId(), post.GetTitle()) }
}
`,
    },
  },
  {
    name: 'openapi-generator (java)',
    needs: ['python3', 'java', 'mvn'],
    install: pip(openapiGenerator),
    generate:
      'openapi-generator-cli generate -i $SERVER/openapi.json -g java -o . -p useSingleRequestParameter=true',
    run: [
      'mvn -q -B compile org.codehaus.mojo:exec-maven-plugin:3.5.0:java -Dexec.mainClass=Program',
    ],
    files: {
      'src/main/java/Program.java': `
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.PostsApi;
import org.openapitools.client.model.*;

public class Program {
  public static void main(String[] args) throws Exception {
    PostsApi posts = new PostsApi(new ApiClient().setBasePath("$API"));
    Post post = posts.createPost(new PostInput().title("First")).execute();
    System.out.println(post.getId() + " " + post.getTitle());
    post = posts.patchPost(post.getId(), new PostPatch().title("Second")).execute();
    System.out.println(post.getId() + " " + post.getTitle());
    for (ListedPost listed : posts.listPosts().execute().getPosts())
      System.out.println(listed.getId() + " " + listed.getTitle());
  }
}
`,
    },
  },
  {
    name: 'oapi-codegen',
    needs: ['go'],
    install: ['go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'],
    generate:
      'bin/oapi-codegen -generate types,client -package main -o api.go $SERVER/openapi.json',
    run: ['go mod init example', 'go mod tidy', 'go run .'],
    files: {
      'program.go': `
package main

import ("context"; "fmt")

func main() {
	ctx := context.Background()
	client, err := NewClientWithResponses("$API")
	if err != nil { panic(err) }
	made, err := client.CreatePostWithResponse(ctx, nil, PostInput{Title: "First"})
	if err != nil { panic(err) }
	fmt.Println(*made.JSON201.Id, made.JSON201.Title)
	title := "Second"
	changed, err := client.PatchPostWithResponse(ctx, *made.JSON201.Id, nil, PostPatch{Title: &title})
	if err != nil { panic(err) }
	fmt.Println(*changed.JSON200.Id, changed.JSON200.Title)
	list, err := client.ListPostsWithResponse(ctx, nil)
	if err != nil { panic(err) }
	for _, post := range list.JSON200.Posts { fmt.Println(*post.Id, *post.Title) }
}
`,
    },
  },
  {
    name: 'openapi-typescript',
    needs: [],
    install: ['npm install --no-audit --no-fund openapi-typescript@7.13.0 openapi-fetch@0.17.0'],
    generate: `${node} node_modules/openapi-typescript/bin/cli.js $SERVER/openapi.json -o api.d.ts`,
    run: [compile, `${node} program.ts`],
    files: {
      'package.json': '{ "type": "module" }',
      'program.ts': `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const client = createClient<paths>({ baseUrl: '$API' });
const made = await client.POST('/posts', { body: { title: 'First' } });
if (!made.data) throw made.error;
console.log(made.data.id, made.data.title);
const path = { id: made.data.id };
const changed = await client.PATCH('/posts/{id}', { params: { path }, body: { title: 'Second' } });
if (!changed.data) throw changed.error;
console.log(changed.data.id, changed.data.title);
const list = await client.GET('/posts');
for (const post of list.data?.posts ?? []) console.log(post.id, post.title);
`,
    },
  },
  {
    name: 'orval',
    needs: [],
    install: [],
    generate: `${node} ${orval} --config orval.config.mjs`,
    run: [compile, `${node} program.ts`],
    files: {
      'package.json': '{ "type": "module" }',
      'orval.config.mjs': `
const output = { target: 'api.ts', client: 'fetch', baseUrl: '$API' };
export default { rostrum: { input: '$SERVER/openapi.json', output } };
`,
      'program.ts': `
import { createPost, listPosts, patchPost } from './api.ts';

const made = await createPost({ title: 'First' });
if (made.status !== 201) throw made.data;
console.log(made.data.id, made.data.title);
const changed = await patchPost(made.data.id, { title: 'Second' });
if (changed.status !== 200) throw changed.data;
console.log(changed.data.id, changed.data.title);
const list = await listPosts();
if (list.status !== 200) throw list.data;
for (const post of list.data.posts) console.log(post.id, post.title);
`,
    },
  },
];

describe('client generators', () => {
  for (const generator of generators) {
    const { name, needs, install, generate, run, files } = generator;

    it(`${name} generates a client that creates, patches and lists a post`, async function () {
      await using folder = await temporaryDirectory();
      const environment = {
        GOBIN: join(folder.path, 'bin'),
        PATH: [join(folder.path, 'python/bin'), process.env.PATH].join(delimiter),
      };
      await using server = await startServer('--store', 'memory:');
      const inFolder = (text: string) =>
        text.replaceAll('$SERVER', server.address).replaceAll('$API', `${server.address}/api/v1`);
      const step = (line: string): Promise<Outcome> => {
        const [command = '', ...args] = inFolder(line).split(' ');
        const options = { cwd: folder.path, env: environment };
        return command === 'npm' ? npm(args, options) : outcomeOf(start(command, args, options));
      };
      const skip = (why: string) => {
        console.log(`      ${name}: skipped: ${why}`);
        this.skip();
      };

      for (const command of needs) {
        if (!(await isOnPath(command))) skip(`${command} is not on the PATH`);
      }
      for (const line of install) {
        const { code, output } = await step(line);
        if (code !== 0) skip(`"${line}" failed: ${output.trim().split('\n').at(-1)}`);
      }
      for (const [file, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder.path, file)), { recursive: true });
        await writeFile(join(folder.path, file), inFolder(text));
      }
      const generated = await step(generate);
      expect(generated.code, generated.output).to.equal(0);
      const messages = limits.reduce((text, limit) => text.replace(limit, ''), generated.output);
      expect(messages).not.to.match(/warn|error/i);
      let printed = '';
      for (const line of run) {
        const { code, stdout, output } = await step(line);
        expect(code, output).to.equal(0);
        printed = stripVTControlCharacters(stdout).trim();
      }

      type Page = { readonly posts: readonly { readonly id: string; readonly title: string }[] };
      const { body } = await sendJson<Page>(server.address, 'GET', '/posts');
      expect(body.posts.map(({ title }) => title)).to.deep.equal(['Second']);
      const id = body.posts[0]?.id;
      expect(printed.split('\n')).to.deep.equal([
        `${id} First`,
        ...[`${id} Second`, `${id} Second`],
      ]);
    });
  }
});

async function isOnPath(command: string): Promise<boolean> {
  return outcomeOf(start(command, ['--help'])).then(
    () => true,
    () => false,
  );
}
