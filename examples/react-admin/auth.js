// Signing in with a key or a token of the API, which is kept for the tab.

const name = 'rostrum-token';

/** What the client sends; undefined for a visitor who has not signed in. */
export function token() {
  return sessionStorage.getItem(name) ?? undefined;
}

/** @returns an `AuthProvider` of react-admin */
export function authProvider(client) {
  return {
    async login({ token }) {
      sessionStorage.setItem(name, token.trim());
      try {
        await client.posts.list({ limit: 1 });
      } catch (error) {
        // Any answer but a 403 says nothing of a key that could be used.
        if (error.status === 403) return;
        sessionStorage.removeItem(name);
        throw error.status === 401 ? new Error('The server does not know this key.') : error;
      }
    },

    async logout() {
      sessionStorage.removeItem(name);
    },

    async checkAuth() {
      if (token() === undefined) throw new Error();
    },

    // It ends the session where it throws: a 403 means that there is one.
    async checkError({ status }) {
      if (status !== 401) return;
      sessionStorage.removeItem(name);
      throw new Error();
    },

    async getIdentity() {
      try {
        const { record } = await client.me.get();
        return { id: record.id, fullName: record.name };
      } catch {
        return { id: 'key', fullName: 'No user' };
      }
    },
  };
}
