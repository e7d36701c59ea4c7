import {
  Refine,
  useDelete,
  useForm,
  useInfiniteList,
  useList,
  useTable,
  useUpdate,
} from '@refinedev/core';
import { createRoot } from 'react-dom/client';
import { createClient } from 'rostrum-client';
import { refineProvider } from 'rostrum-client/refine';

const url = new URLSearchParams(location.search).get('api') ?? '/api/v1';

function useUsers() {
  const { result } = useList({
    resource: 'users',
    sorters: [{ field: 'name', order: 'asc' }],
    pagination: { mode: 'off' },
  });
  return result.data;
}

function Users({ none, ...props }) {
  return (
    <select {...props}>
      <option value="">{none}</option>
      {useUsers().map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function PostForm() {
  const { onFinish, mutation } = useForm({ resource: 'posts', action: 'create', redirect: false });
  const errors = mutation.error?.errors ?? {};

  async function submit(event) {
    event.preventDefault();
    const form = event.currentTarget;
    const { title, authorId } = Object.fromEntries(new FormData(form));
    // A refusal is in `mutation.error`.
    const saved = await onFinish({ title, authorId: authorId || null }).catch(() => undefined);
    if (saved) form.reset();
  }

  return (
    <form onSubmit={submit}>
      <label>
        Title <small>{errors.title}</small>
        <input name="title" />
      </label>
      <label htmlFor="author">
        Author <small>{errors.authorId}</small>
        <Users id="author" name="authorId" none="nobody" />
      </label>
      <button type="submit">Create</button>
    </form>
  );
}

function PostTable() {
  const table = useTable({
    resource: 'posts',
    pagination: { pageSize: 10 },
    meta: { include: 'author' },
    syncWithLocation: false,
  });
  const { mutate: remove, mutation: removal } = useDelete();
  const { mutate: update, mutation: change } = useUpdate();
  const failure = change.error ?? removal.error;
  // The authors come with the posts.
  const names = new Map(table.tableQuery.data?.users.map(({ id, name }) => [id, name]));
  const text =
    failure?.statusCode === 412
      ? 'Somebody else changed this post. Here it is as it is now.'
      : failure?.message;
  const { currentPage, pageCount, setCurrentPage, setFilters, setSorters } = table;

  function filterBy(field, operator, value) {
    setCurrentPage(1);
    setFilters([{ field, operator, value }]);
  }

  function rename({ id, title, updatedAt }) {
    const text = prompt('Title', title);
    if (text === null) return;
    update(
      // `updatedAt`: a change that somebody else made meanwhile is not lost.
      { resource: 'posts', id, values: { title: text }, meta: { updatedAt } },
      { onError: ({ statusCode }) => statusCode === 412 && table.tableQuery.refetch() },
    );
  }

  return (
    <>
      {text && <p role="alert">{text}</p>}
      <p>
        Only posts of{' '}
        <Users
          aria-label="Only posts of"
          none="everybody"
          onChange={(event) => filterBy('authorId', 'eq', event.target.value)}
        />{' '}
        <input
          type="search"
          placeholder="Title begins with"
          aria-label="Title begins with"
          onChange={(event) => filterBy('title', 'startswith', event.target.value)}
        />
      </p>
      <table>
        <thead>
          <tr>
            <th>
              <button type="button" onClick={() => setSorters([{ field: 'title', order: 'asc' }])}>
                Title
              </button>
            </th>
            <th>Author</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {table.result.data.map((post) => (
            <tr key={post.id}>
              <td>{post.title}</td>
              <td>{names.get(post.authorId)}</td>
              <td>
                <button type="button" onClick={() => rename(post)}>
                  Rename
                </button>{' '}
                <button type="button" onClick={() => remove({ resource: 'posts', id: post.id })}>
                  Delete
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <button
          type="button"
          disabled={currentPage === 1}
          onClick={() => setCurrentPage(currentPage - 1)}
        >
          Back
        </button>{' '}
        Page {currentPage} of {pageCount}{' '}
        <button
          type="button"
          disabled={currentPage >= pageCount}
          onClick={() => setCurrentPage(currentPage + 1)}
        >
          Next
        </button>
      </p>
    </>
  );
}

function Titles() {
  const { result, query } = useInfiniteList({
    resource: 'posts',
    sorters: [{ field: 'title', order: 'asc' }],
    pagination: { pageSize: 25 },
  });
  const titles = result.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      <h2>All titles</h2>
      <p>{titles.map(({ title }) => title).join(', ')}</p>
      {result.hasNextPage && (
        <button type="button" onClick={() => query.fetchNextPage()}>
          More
        </button>
      )}
    </>
  );
}

createRoot(document.querySelector('#root')).render(
  <Refine
    dataProvider={refineProvider(createClient({ url }))}
    resources={[{ name: 'users' }, { name: 'posts' }]}
    options={{ disableTelemetry: true }}
  >
    <h1>Posts</h1>
    <PostForm />
    <PostTable />
    <Titles />
  </Refine>,
);
