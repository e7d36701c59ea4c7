/**
 * Changes every part of a value in place, as a careless caller might. A value that does not let
 * itself be changed (a frozen one) is as good as a copy.
 */
export function vandalize(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    const part: unknown = Reflect.get(value, key);
    if (typeof part === 'object') vandalize(part);
    else Reflect.set(value, key, 'vandalized');
  }
  if (Array.isArray(value)) Reflect.set(value, value.length, 'vandalized');
  else Reflect.set(value, 'vandalized', true);
}
