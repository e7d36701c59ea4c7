export interface SqliteRestoreOptions {
  readonly path: string;
  readonly from: string;
}
export async function restoreSqlite(_: SqliteRestoreOptions): Promise<void> {}
