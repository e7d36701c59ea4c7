import { instantFromMs, instantToMs, isInstant, parseRfc3339 } from '../records/instant.ts';
import type { Json, JsonObject } from '../records/json.ts';
import { codePoints, hasVisible, utf8Bytes } from '../records/text.ts';
import { isEmail } from './email.ts';
import type { FieldCode, Issues } from './issues.ts';
import type { DeclaredRule, EmailRule, FieldRule, FieldRules, TextRule } from './rules.ts';

/** Adds an issue of one field: what it must be, or have. */
type Report = (code: FieldCode, requirement: string) => void;

/**
 * Reads the known fields of a record by their rules. A field that already has an issue, because it is not
 * valid JSON, gets no second one.
 */
export function readFields(rules: FieldRules, values: JsonObject, issues: Issues): JsonObject {
  const fields: Record<string, string | null> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const report: Report = (code, requirement) =>
      issues.add([name], code, `The field "${name}" ${requirement}.`);
    fields[name] = issues.has(name) ? null : readField(rule, value, report);
  }
  return fields;
}

/** Returns a field's name without the differences between naming conventions: `published_at`, `PublishedAt`. */
export function foldedName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '');
}

/** Checks a value that is not null by the rule of a declared field. Adds issues at its path. */
export function checkDeclaredValue(
  rule: DeclaredRule,
  value: Json,
  path: readonly (string | number)[],
  issues: Issues,
): void {
  const [name, index] = path;
  const subject = index === undefined ? `The field "${name}"` : `An element of "${name}"`;
  const report: Report = (code, requirement) => {
    if (!issues.has(...path)) issues.add(path, code, `${subject} ${requirement}.`);
  };
  switch (rule.type) {
    case 'text':
      if (typeof value === 'string') readText(rule, value, report);
      else report('type', 'must be a string');
      break;
    case 'text[]':
      if (!Array.isArray(value)) report('type', 'must be an array of strings');
      else if (value.length > rule.maxItems) {
        report('too-long', `must have at most ${rule.maxItems} elements`);
      } else {
        for (const [i, item] of value.entries()) {
          checkDeclaredValue(rule.items, item, [...path, i], issues);
        }
      }
      break;
    case 'number':
      if (typeof value !== 'number') report('type', 'must be a number');
      break;
    case 'boolean':
      if (typeof value !== 'boolean') report('type', 'must be true or false');
  }
}

function readField(rule: FieldRule, value: unknown, report: Report): string | null {
  if (value === undefined || value === null) {
    if (rule.fallback !== undefined) return rule.fallback;
    report('required', 'is required');
    return null;
  }
  if (typeof value !== 'string') {
    report('type', 'must be a string');
    return null;
  }
  switch (rule.type) {
    case 'text':
      return readText(rule, value, report);
    case 'email':
      return readEmail(rule, value, report);
    case 'instant':
      return readInstant(value, report);
    case 'reference':
      return value; // The store checks that the user exists, in the same step as the change.
  }
}

function readText(rule: TextRule, value: string, report: Report): string {
  const text = rule.trim ? value.trim() : value;
  const { minLength, maxLength } = rule;
  // A code point is one or two units of UTF-16, so most lengths need no count.
  if (text.length < 2 * minLength && codePoints(text) < minLength) {
    report('too-short', `must have at least ${minLength} character${minLength === 1 ? '' : 's'}`);
  } else if (text.length > maxLength && codePoints(text) > maxLength) {
    report('too-long', `must have at most ${maxLength} characters`);
  } else if (!rule.controls && /\p{Cc}/u.test(text)) {
    report('invalid', 'must not contain control characters');
  } else if (rule.visible && !hasVisible(text)) {
    report('invalid', 'must have at least one visible character');
  }
  return text;
}

function readEmail(rule: EmailRule, value: string, report: Report): string {
  const email = value.trim();
  if (utf8Bytes(email) > rule.maxBytes) {
    report('too-long', `must have at most ${rule.maxBytes} bytes`);
  } else if (!isEmail(email)) report('invalid', 'must be an email address');
  return email;
}

function readInstant(value: string, report: Report): string {
  if (isInstant(value)) return value;
  const instant = parseRfc3339(value);
  // An instant has a year from 0000 to 9999; `instantFromMs` clamps any other.
  const read = instant && instantFromMs(instant.ms);
  if (read !== undefined && instantToMs(read) === instant?.ms) return read;
  report('invalid', 'must be a date-time like 2026-11-21T09:30:00Z');
  return value;
}
