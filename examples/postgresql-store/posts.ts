import {
  type CustomFilterFields,
  type Guard,
  type Id,
  type Instant,
  type Post,
  type PostFilter,
  type PostRepository,
  type PostSort,
  postSortKey,
  withoutAuthor,
} from 'rostrum/ports';
import type { Conditions } from './conditions.ts';
import type { Connections, Query } from './connections.ts';
import { PostgresqlRepository, versioned } from './repository.ts';

/** How much of an author's posts is in memory at a time. */
const part = { records: 1000, bytes: 1024 * 1024 };

export class PostgresqlPosts
  extends PostgresqlRepository<Post, PostFilter, PostSort>
  implements PostRepository
{
  constructor(connections: Connections, customFilters?: CustomFilterFields) {
    super(connections, 'posts', customFilters);
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return this.connections.change(async (query) => {
      const post = await this.lock(query, id);
      if (post === undefined) return false;
      guard?.(post);
      await this.remove(query, id);
      return true;
    });
  }

  /** Locks the posts of an author. @returns how many there are */
  async lockOf(query: Query, author: Id): Promise<number> {
    const [row] = await query(
      `select count(*) as posts from (
        select 1 from rostrum.posts where "authorId" = $1 for update
      ) as theirs`,
      [author],
    );
    return Number(row?.posts);
  }

  async deleteOf(query: Query, author: Id): Promise<void> {
    await query('delete from rostrum.posts where "authorId" = $1', [author]);
  }

  /** Takes the author from posts that are locked, in parts. */
  async keepOf(query: Query, author: Id, at: Instant): Promise<void> {
    for (;;) {
      const rows = await query(
        `select version, json from (
          select *, sum(octet_length(json)) over (order by id) - octet_length(json) as before
          from (select * from rostrum.posts where "authorId" = $1 order by id limit $2) as next
        ) as measured where before < $3`,
        [author, part.records, part.bytes],
      );
      if (rows.length === 0) return;
      for (const { record, version } of rows.flatMap((row) => versioned<Post>(row) ?? [])) {
        await this.replace(query, withoutAuthor(record, at), version + 1);
      }
    }
  }

  protected override columns({ createdAt, updatedAt, title, authorId }: Post) {
    return { createdAt, updatedAt, title, authorId };
  }

  protected override sortKey(post: Post, by: PostSort): string {
    return postSortKey(post, by);
  }

  protected override sortColumn(by: PostSort): string {
    return `"${by}"`;
  }

  protected override restrict(conditions: Conditions, { title, authorId }: PostFilter): void {
    if (title !== undefined) conditions.equal('title', title);
    if (authorId === null) conditions.add('"authorId" is null');
    else if (authorId !== undefined) conditions.equal('"authorId"', authorId);
  }
}
