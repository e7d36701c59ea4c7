// What each role is allowed to do in Rostrum.

import type { Scope } from 'rostrum';

export const anonymous: Scope[] = ['users:read:public', 'posts:read'];
export const member: Scope[] = [...anonymous, 'users:write:own', 'posts:write:own'];
const editor: Scope[] = [...member, 'posts:read:all', 'posts:write'];

/** By the role of the account. `user` is better-auth's default. */
export const roles: Readonly<Record<string, Scope[]>> = { user: member, editor, admin: editor };
