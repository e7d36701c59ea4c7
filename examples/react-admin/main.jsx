import { useMediaQuery } from '@mui/material';
import {
  Admin,
  Create,
  DataTable,
  DateField,
  Edit,
  List,
  ReferenceField,
  ReferenceInput,
  ReferenceManyCount,
  Resource,
  SelectInput,
  SimpleForm,
  SimpleList,
  TextInput,
  useNotify,
  useRefresh,
} from 'react-admin';
import { createRoot } from 'react-dom/client';
import { createClient } from 'rostrum-client';
import { reactAdminProvider } from 'rostrum-client/react-admin';

const url = new URLSearchParams(location.search).get('api') ?? '/api/v1';
const provider = reactAdminProvider(createClient({ url }), { posts: 'keep' });

const useIsPhone = () => useMediaQuery((theme) => theme.breakpoints.down('sm'));

function UserList() {
  const filters = [
    <TextInput key="email" source="email" alwaysOn />,
    <TextInput key="name" source="name" label="Whole name" />,
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

function PostList() {
  const filters = [
    <ReferenceInput key="author" source="authorId" reference="users" alwaysOn>
      <SelectInput optionText="name" />
    </ReferenceInput>,
    <TextInput key="title" source="title" label="Whole title" />,
  ];
  return (
    <List filters={filters} sort={{ field: 'createdAt', order: 'DESC' }}>
      {useIsPhone() ? (
        <SimpleList
          primaryText={({ title }) => title}
          secondaryText={<ReferenceField source="authorId" reference="users" link={false} />}
        />
      ) : (
        <DataTable>
          <DataTable.Col source="title" />
          <DataTable.Col source="authorId" label="Author" disableSort>
            <ReferenceField source="authorId" reference="users" />
          </DataTable.Col>
          <DataTable.Col source="updatedAt">
            <DateField source="updatedAt" showTime />
          </DataTable.Col>
        </DataTable>
      )}
    </List>
  );
}

function PostForm() {
  return (
    <SimpleForm>
      <TextInput source="title" />
      <TextInput source="body" multiline minRows={4} />
      <ReferenceInput source="authorId" reference="users">
        <SelectInput optionText="name" />
      </ReferenceInput>
    </SimpleForm>
  );
}

function edit(Form) {
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
        <Form />
      </Edit>
    );
  };
}

function create(Form) {
  return () => (
    <Create redirect="list">
      <Form />
    </Create>
  );
}

createRoot(document.querySelector('#root')).render(
  <Admin dataProvider={provider}>
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
