// Generates clients from the description of a real server with custom fields, and uses them. The generators come from
// the package registries; pip, Go, Java and Maven must be on the PATH.

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
  /** The last one prints the created post, the patched one and the list, each as a line "id title views". */
  readonly run: readonly string[];
}

const node = process.execPath;
const compile = `${node} ${join(repository, 'node_modules/typescript/bin/tsc')} --ignoreConfig --noEmit --strict --target es2022 --module nodenext --types  --allowImportingTsExtensions program.ts`;
const orval = join(repository, 'test/third-party/node_modules/orval/dist/bin/orval.mjs');
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
from api.models import ListPostsSort, PostInput, PostPatch

client = Client(base_url="$API")
new = PostInput(title="First", slug="first", views=0.1, tags=["a", "b"])
post = create_post.sync(client=client, body=new)
print(post.id, post.title, post.views)
post = patch_post.sync(post.id, client=client, body=PostPatch(title="Second", views=20.5, hot=None))
print(post.id, post.title, post.views)
sort = ListPostsSort("-views")
page = list_posts.sync(client=client, slug="first", tags=["a", "b"], viewsgte=20.5, sort=sort)
for post in page.posts:
    print(post.id, post.title, post.views)
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
post = posts.create_post(PostInput(title="First", slug="first", views=0.1, tags=["a", "b"]))
print(post.id, post.title, post.views)
post = posts.patch_post(post.id, PostPatch(title="Second", views=20.5, hot=None))
print(post.id, post.title, post.views)
page = posts.list_posts(slug="first", tags=["a", "b"], views_gte=20.5, sort="-views")
for post in page.posts:
    print(post.id, post.title, post.views)
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
	input := NewPostInput("First")
	input.SetSlug("first")
	input.SetViews(0.1)
	tags := []string{"a", "b"}
	input.SetTags(tags)
	made, _, err := posts.CreatePost(ctx).PostInput(*input).Execute()
	if err != nil { panic(err) }
	fmt.Println(made.GetId(), made.GetTitle(), made.GetViews())
	patch := NewPostPatch()
	patch.SetTitle("Second")
	patch.SetViews(20.5)
	patch.SetHotNil()
	changed, _, err := posts.PatchPost(ctx, made.GetId()).PostPatch(*patch).Execute()
	if err != nil { panic(err) }
	fmt.Println(changed.GetId(), changed.GetTitle(), changed.GetViews())
	list, _, err := posts.ListPosts(ctx).Slug("first").Tags(tags).ViewsGte(20.5).Sort("-views").Execute()
	if err != nil { panic(err) }
	for _, post := range list.Posts { fmt.Println(post.GetId(), post.GetTitle(), post.GetViews()) }
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
import java.util.List;

public class Program {
  public static void main(String[] args) throws Exception {
    PostsApi posts = new PostsApi(new ApiClient().setBasePath("$API"));
    List<String> tags = List.of("a", "b");
    PostInput input = new PostInput().title("First").slug("first").views(0.1).tags(tags);
    Post post = posts.createPost(input).execute();
    System.out.println(post.getId() + " " + post.getTitle() + " " + post.getViews());
    post = posts.patchPost(post.getId(), new PostPatch().title("Second").views(20.5)).execute();
    System.out.println(post.getId() + " " + post.getTitle() + " " + post.getViews());
    PostPage page = posts.listPosts().slug("first").tags(tags).viewsGte(20.5).sort("-views").execute();
    for (ListedPost listed : page.getPosts())
      System.out.println(listed.getId() + " " + listed.getTitle() + " " + listed.getViews());
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
	slug, tags, few, many := "first", []string{"a", "b"}, 0.1, 20.5
	input := PostInput{Title: "First", Slug: &slug, Views: &few, Tags: &tags}
	made, err := client.CreatePostWithResponse(ctx, nil, input)
	if err != nil { panic(err) }
	fmt.Println(*made.JSON201.Id, made.JSON201.Title, *made.JSON201.Views)
	title, sort := "Second", ListPostsParamsSortMinusViews
	patch := PostPatch{Title: &title, Views: &many}
	changed, err := client.PatchPostWithResponse(ctx, *made.JSON201.Id, nil, patch)
	if err != nil { panic(err) }
	fmt.Println(*changed.JSON200.Id, changed.JSON200.Title, *changed.JSON200.Views)
	query := ListPostsParams{Slug: &slug, Tags: &tags, ViewsGte: &many, Sort: &sort}
	list, err := client.ListPostsWithResponse(ctx, &query)
	if err != nil { panic(err) }
	for _, post := range list.JSON200.Posts { fmt.Println(*post.Id, *post.Title, *post.Views) }
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
const body = { title: 'First', slug: 'first', views: 0.1, tags: ['a', 'b'] };
const made = await client.POST('/posts', { body });
if (!made.data) throw made.error;
console.log(made.data.id, made.data.title, made.data.views);
const path = { id: made.data.id };
const patch = { title: 'Second', views: 20.5, hot: null };
const changed = await client.PATCH('/posts/{id}', { params: { path }, body: patch });
if (!changed.data) throw changed.error;
console.log(changed.data.id, changed.data.title, changed.data.views);
const query = { slug: 'first', tags: ['a', 'b'], 'views[gte]': 20.5, sort: '-views' } as const;
const list = await client.GET('/posts', { params: { query: { ...query, tags: [...query.tags] } } });
for (const post of list.data?.posts ?? []) console.log(post.id, post.title, post.views);
// @ts-expect-error: declared fields have their types.
if (Math.random() > 1) await client.POST('/posts', { body: { title: 'Third', views: '20' } });
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

const tags = ['a', 'b'];
const made = await createPost({ title: 'First', slug: 'first', views: 0.1, tags });
if (made.status !== 201) throw made.data;
console.log(made.data.id, made.data.title, made.data.views);
const changed = await patchPost(made.data.id, { title: 'Second', views: 20.5, hot: null });
if (changed.status !== 200) throw changed.data;
console.log(changed.data.id, changed.data.title, changed.data.views);
const list = await listPosts({ slug: 'first', tags, 'views[gte]': 20.5, sort: '-views' });
if (list.status !== 200) throw list.data;
for (const post of list.data.posts) console.log(post.id, post.title, post.views);
// @ts-expect-error: declared fields have their types.
if (Math.random() > 1) await createPost({ title: 'Third', views: '20' });
`,
    },
  },
];

/** Fields with names that are not identifiers, with a reference, and one that is declared, too. */
const postSchema = {
  properties: {
    größe: { type: 'integer' },
    'seo title': { type: 'string' },
    $x: { $ref: '#/$defs/point' },
    slug: { pattern: '^[a-z]+$' },
  },
  $defs: { point: { type: 'object', properties: { lat: { type: 'number' } } } },
};
const declared = ['slug:text:unique', 'views:number', 'tags:text[]', 'hot:boolean', 'größe:number'];

describe('client generators', () => {
  for (const generator of generators) {
    const { name, needs, install, generate, run, files } = generator;

    it(`${name} generates a client that creates, changes, finds and sorts posts by declared fields`, async function () {
      await using folder = await temporaryDirectory();
      const environment = {
        GOBIN: join(folder.path, 'bin'),
        PATH: [join(folder.path, 'python/bin'), process.env.PATH].join(delimiter),
      };
      const schema = join(folder.path, 'posts.schema.json');
      await writeFile(schema, JSON.stringify(postSchema));
      await using server = await startServer(
        ...['--store', 'memory:', '--post-schema', schema],
        ...declared.flatMap((field) => ['--field', `posts.${field}`]),
      );
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
        `${id} First 0.1`,
        ...[`${id} Second 20.5`, `${id} Second 20.5`],
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
