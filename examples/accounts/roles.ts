// What each role is allowed to do in Rostrum.

import type { Scope } from 'rostrum';

/** Posts name their authors. Without a scope for users, nobody can list those who have not published. */
export const anonymous: Scope[] = ['posts:read'];
/** What the pages for readers show. */
export const reader: Scope[] = [...anonymous, 'users:read:public'];
export const member: Scope[] = [...anonymous, 'users:write:own', 'posts:write:own'];
const editor: Scope[] = [...member, 'posts:read:all', 'posts:write'];

/** By the role of the account. `user` is better-auth's default. */
export const roles: Readonly<Record<string, Scope[]>> = { user: member, editor, admin: editor };
