import type { Deletion, UserRepository } from '../../ports/user-repository.ts';
import { subjectOf } from '../access.ts';
import type { CustomFieldsInput } from '../custom-fields.ts';
import { isRostrumError, RostrumError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import {
  cutPage,
  type Page,
  type PageRequest,
  type Position,
  type UserFilter,
  type UserSort,
  userSortKey,
  userSorts,
} from '../list.ts';
import type { ListRequest } from '../list-request.ts';
import { checkPrecondition, checkPreconditionOptions, type Precondition } from '../precondition.ts';
import {
  type EntityFields,
  type Id,
  projected,
  type Versioned,
  VersionedRecord,
} from '../record.ts';
import type { PublicUser, User, UserInput, UserPatch } from '../user.ts';
import { checkId, type ServiceParts, UseCases, withFields } from './use-cases.ts';
import {
  type DeleteUserOptions,
  deleteModes,
  type Saved,
  type UserService,
} from './user-service.ts';

type UserListRequest = ListRequest<UserFilter, UserSort>;

export interface UserServiceParts<R extends EntityFields>
  extends ServiceParts<R, UserRepository<R>> {
  /** The fields of the public view beside those that it always has. */
  readonly publicFields: readonly string[];
}

/** The field that each filter looks at; the others look at the field of their name. */
const filtered: Readonly<Record<string, string>> = {
  ids: 'id',
  nameStartsWith: 'name',
  emailStartsWith: 'email',
};

export class UserUseCases<
  Custom extends object = JsonObject,
  Input extends object = CustomFieldsInput,
> extends UseCases<
  User<Custom>,
  UserInput<Input>,
  UserPatch<Input>,
  UserFilter,
  UserSort,
  UserRepository<User<Custom>>
> {
  /** What the public view has. */
  readonly #publicFields: readonly string[];

  constructor(parts: UserServiceParts<User<Custom>>) {
    super(parts, {
      resource: 'users',
      notFound: 'user-not-found',
      sorts: userSorts,
      filters: { name: 'text', email: 'text', nameStartsWith: 'prefix', emailStartsWith: 'prefix' },
    });
    this.#publicFields = ['id', 'name', 'createdAt', ...parts.publicFields];
  }

  service(): UserService<Custom, Input> {
    return {
      ...this.shared(),
      getPublic: (id) => this.getPublic(id),
      listPublic: (request) => this.listPublic(request),
      saveItself: (input, precondition) => this.saveItself(input, precondition),
      delete: (id, options) => this.delete(id, options),
    };
  }

  async getPublic(id: Id): Promise<Versioned<PublicUser<Custom>>> {
    checkId(id);
    this.access?.checkReadPublic();
    const stored = await this.repository.get(id);
    if (stored === undefined) throw this.notFound(id);
    return new VersionedRecord(projected(stored.record, this.#publicFields), stored.version);
  }

  async listPublic(request: UserListRequest = {}): Promise<Page<PublicUser<Custom>>> {
    const asked = this.asked(request);
    this.access?.checkReadPublic();
    this.#checkPublic(request.filter ?? {}, asked.order);
    const page = await this.#publicPage({ ...asked, fields: this.#publicFields });
    return asked.fields === undefined ? page : withFields(page, asked.fields);
  }

  /** The public view of users, for whoever sees their posts. */
  async authors(
    ids: readonly Id[],
    signal: AbortSignal | undefined,
  ): Promise<readonly Versioned<PublicUser<Custom>>[]> {
    const found: Versioned<PublicUser<Custom>>[] = [];
    let after: Position | undefined;
    do {
      const page = await this.page({
        ...this.asked({ filter: { ids }, after, signal }),
        fields: this.#publicFields,
      });
      found.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return found;
  }

  async saveItself(
    input: UserInput<Input>,
    precondition: Precondition = {},
  ): Promise<Saved<User<Custom>>> {
    const id = subjectOf(this.access?.caller);
    for (let isRepeated = false; ; isRepeated = true) {
      const change = await this.changeIfThere(id, precondition, () => input);
      if (change !== undefined) return Object.assign(change, { created: false });
      if (precondition.only !== undefined) throw this.notFound(id);
      try {
        const made = await this.createWithId(input, id);
        return Object.assign(made, { changed: true, created: true });
      } catch (error) {
        // Another call may just have made it; else the id is that of a deleted user.
        if (isRepeated || !isRostrumError(error, 'id-taken')) throw error;
      }
    }
  }

  async delete(id: Id, options: DeleteUserOptions = {}): Promise<Deletion> {
    checkId(id);
    checkPreconditionOptions(options, 'posts');
    const { posts = 'refuse' } = options;
    if (!deleteModes.includes(posts)) {
      throw new RangeError(`The option "posts" must be one of ${deleteModes.join(', ')}.`);
    }
    this.access?.checkWrite();
    if (posts !== 'refuse') this.access?.checkPostsOf(id);
    const now = this.now();
    const guard = (current: Versioned<User<Custom>>): void => {
      this.checkChange(id, current, now);
      checkPrecondition(options, current.version);
    };
    try {
      const deletion = await this.repository.delete(id, posts, now, guard);
      if (deletion === undefined) throw this.notFound(id);
      return deletion;
    } catch (error) {
      const mayCount = this.access === undefined || this.access.mayCountPostsOf(id);
      if (mayCount || !isRostrumError(error, 'user-has-posts')) throw error;
      throw new RostrumError('user-has-posts', {});
    }
  }

  /**
   * A store that reads whole records ends a page where they have too many bytes. That would tell how
   * large they are, so such a page is read on, to its limit or to the bytes of what is shown.
   */
  async #publicPage(request: PageRequest<UserFilter, UserSort>): Promise<Page<User<Custom>>> {
    const { order, limit } = request;
    const position = ({ record }: Versioned<User<Custom>>): Position => {
      return { key: userSortKey(record as User, order.by), id: record.id };
    };
    let page = await this.page(request);
    while (!page.isProjected && page.next !== undefined && page.items.length < limit) {
      const rest = { ...request, after: page.next, limit: limit - page.items.length, total: false };
      const { items, next } = await this.page(rest);
      page = { ...page, items: [...page.items, ...items], next };
      const cut = cutPage(page.items, request, position);
      if (cut.next !== undefined) return { ...page, ...cut };
    }
    return page;
  }

  /** What is hidden must not be found out by filters and orders. */
  #checkPublic(filter: UserFilter, order: PageRequest<UserFilter, UserSort>['order']): void {
    const { custom = {}, ...others } = filter;
    const given = Object.entries(others).filter(([, value]) => value !== undefined);
    const names = given.map(([name]) => filtered[name] ?? name);
    const looked = [...names, ...Object.keys(custom), order.by];
    if (looked.every((name) => this.#publicFields.includes(name))) return;
    throw new RostrumError('forbidden', { scope: 'users:read' });
  }
}
