// What the app and the server that it runs on say alike.

/** The path that the pages of the kinds of problems lie under. */
export const problemsPath = '/problems';

/** `Allow` of the server as a whole. */
export const allMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
