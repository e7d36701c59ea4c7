import { connection } from 'next/server';
import { forum } from './forum.js';

/** The users, by the library itself: the page asks for no HTTP. */
export default async function Page() {
  await connection(); // Made for each request, and not when the app is built.
  const { items } = await forum.users.list();
  return (
    <ul>
      {items.map(({ record }) => (
        <li key={record.id}>{record.name}</li>
      ))}
    </ul>
  );
}
