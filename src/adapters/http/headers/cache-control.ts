/** A cache may keep a record, and has to ask each time whether it still holds. */
export const revalidated: readonly string[] = ['Cache-Control', 'no-cache'];
