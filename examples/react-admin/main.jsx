import { Button, CardContent, useMediaQuery } from '@mui/material';
import { useState } from 'react';
import {
  Admin,
  AutocompleteInput,
  Create,
  DataTable,
  DateField,
  DateTimeInput,
  Edit,
  Form,
  FunctionField,
  List,
  Login,
  ReferenceInput,
  ReferenceManyCount,
  Resource,
  SelectInput,
  SimpleForm,
  SimpleList,
  TextArrayInput,
  TextInput,
  useListContext,
  useLogin,
  useNotify,
  useRecordContext,
  useRefresh,
} from 'react-admin';
import { createRoot } from 'react-dom/client';
import { createClient } from 'rostrum-client';
import { reactAdminProvider } from 'rostrum-client/react-admin';
import { authProvider, token } from './auth.js';

const url = new URLSearchParams(location.search).get('api') ?? '/api/v1';
const client = createClient({ url, token });
const provider = reactAdminProvider(client, { posts: 'keep' });

/** What `publishedAt` is in each state of a post. */
const states = {
  Draft: () => null,
  Scheduled: () => ({ gt: new Date() }),
  Public: () => ({ lte: new Date() }),
};

function stateOf({ publishedAt }) {
  if (publishedAt === null) return 'Draft';
  return Date.parse(publishedAt) > Date.now() ? 'Scheduled' : 'Public';
}

/** The provider, with a filter by `state`. */
const dataProvider = {
  ...provider,
  getList(name, { filter: { state, ...filter } = {}, ...params }) {
    const published = state && { publishedAt: states[state]() };
    return provider.getList(name, { ...params, filter: { ...filter, ...published } });
  },
};

const useIsPhone = () => useMediaQuery((theme) => theme.breakpoints.down('sm'));

function SignIn() {
  const login = useLogin();
  const notify = useNotify();
  const submit = (values) =>
    login(values).catch(({ message }) => notify(message, { type: 'error' }));
  return (
    <Login>
      <Form onSubmit={submit}>
        <CardContent>
          <TextInput source="token" label="Key or token" type="password" required autoFocus />
          <Button type="submit" variant="contained" fullWidth>
            Sign in
          </Button>
        </CardContent>
      </Form>
    </Login>
  );
}

function UserList() {
  const filters = [
    <TextInput key="q" source="q" label="Name begins with" alwaysOn />,
    <TextInput key="email" source="email.startsWith" label="Email begins with" />,
  ];
  return (
    <List filters={filters} sort={{ field: 'name', order: 'ASC' }}>
      {useIsPhone() ? (
        <SimpleList primaryText={({ name }) => name} secondaryText={({ email }) => email} />
      ) : (
        <DataTable>
          <DataTable.Col source="name" />
          <DataTable.Col source="email" />
          <DataTable.Col label="Posts" disableSort>
            <ReferenceManyCount reference="posts" target="authorId" />
          </DataTable.Col>
          <DataTable.Col source="createdAt">
            <DateField source="createdAt" showTime />
          </DataTable.Col>
        </DataTable>
      )}
    </List>
  );
}

function UserForm() {
  return (
    <SimpleForm>
      <TextInput source="name" />
      <TextInput source="email" />
    </SimpleForm>
  );
}

/** The authors come with the list. */
function AuthorName() {
  const post = useRecordContext();
  const { meta } = useListContext();
  return meta?.users.find(({ id }) => id === post?.authorId)?.name ?? '';
}

function AuthorInput(props) {
  return (
    <ReferenceInput source="authorId" reference="users" sort={{ field: 'name', order: 'ASC' }}>
      <AutocompleteInput label="Author" optionText="name" {...props} />
    </ReferenceInput>
  );
}

function PostList() {
  const filters = [
    <TextInput key="q" source="q" label="Title begins with" alwaysOn />,
    <SelectInput
      key="state"
      source="state"
      choices={Object.keys(states).map((id) => ({ id, name: id }))}
      alwaysOn
    />,
    <AuthorInput key="author" source="authorId" label="Author" />,
    <TextInput key="tag" source="tags" label="Tag" alwaysOn />,
  ];
  return (
    <List
      filters={filters}
      sort={{ field: 'createdAt', order: 'DESC' }}
      queryOptions={{ meta: { include: 'author' } }}
    >
      {useIsPhone() ? (
        <SimpleList
          primaryText={({ title }) => title}
          secondaryText={<AuthorName />}
          tertiaryText={stateOf}
        />
      ) : (
        <DataTable>
          <DataTable.Col source="title" />
          <DataTable.Col source="authorId" label="Author" disableSort>
            <AuthorName />
          </DataTable.Col>
          <DataTable.Col source="publishedAt" label="State">
            <FunctionField render={stateOf} />
          </DataTable.Col>
          <DataTable.Col source="updatedAt">
            <DateField source="updatedAt" showTime />
          </DataTable.Col>
        </DataTable>
      )}
    </List>
  );
}

function PostForm({ publishedAt }) {
  return (
    <SimpleForm>
      <TextInput source="title" />
      <TextInput source="body" multiline minRows={4} />
      <AuthorInput />
      <TextArrayInput source="tags" />
      <DateTimeInput
        source="publishedAt"
        label="Public from"
        helperText="Empty for a draft."
        defaultValue={publishedAt}
      />
    </SimpleForm>
  );
}

function edit(Fields) {
  return () => {
    const notify = useNotify();
    const refresh = useRefresh();

    function onError({ status, message, body }) {
      if (status === 412) {
        notify('Somebody else changed this record. Here it is as it is now.', { type: 'warning' });
        refresh();
      } else if (Object.keys(body?.errors ?? {}).length === 0) {
        // Otherwise the form has a message beside each field.
        notify(message, { type: 'error' });
      }
    }

    // Pessimistic: the form stays until the server has saved, and shows what it refused.
    return (
      <Edit mutationMode="pessimistic" mutationOptions={{ onError }}>
        <Fields />
      </Edit>
    );
  };
}

function create(Fields) {
  return () => {
    const [now] = useState(() => new Date());
    return (
      <Create redirect="list">
        <Fields publishedAt={now} />
      </Create>
    );
  };
}

createRoot(document.querySelector('#root')).render(
  <Admin
    dataProvider={dataProvider}
    authProvider={authProvider(client)}
    loginPage={SignIn}
    requireAuth
    disableTelemetry
  >
    <Resource
      name="users"
      list={UserList}
      edit={edit(UserForm)}
      create={create(UserForm)}
      recordRepresentation="name"
    />
    <Resource name="posts" list={PostList} edit={edit(PostForm)} create={create(PostForm)} />
  </Admin>,
);
