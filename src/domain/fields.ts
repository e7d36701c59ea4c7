import { isEmail } from './email.ts';
import { instantFromMs, instantToMs, isInstant, parseRfc3339 } from './instant.ts';
import type { Issues } from './issues.ts';
import type { JsonObject } from './json.ts';
import type { EmailRule, FieldRule, FieldRules, TextRule } from './rules.ts';
import { codePoints, hasControl, hasVisible, utf8Bytes } from './text.ts';

/**
 * Reads the known fields of a record by their rules. A field that already has an issue, because it is not
 * valid JSON, gets no second one.
 */
export function readFields(rules: FieldRules, values: JsonObject, issues: Issues): JsonObject {
  const fields: Record<string, string | null> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    fields[name] = issues.has(name) ? null : readField(rule, value, name, issues);
  }
  return fields;
}

function readField(rule: FieldRule, value: unknown, name: string, issues: Issues): string | null {
  if (value === undefined || value === null) {
    if (rule.fallback !== undefined) return rule.fallback;
    issues.add([name], 'required', `The field "${name}" is required.`);
    return null;
  }
  if (typeof value !== 'string') {
    issues.add([name], 'type', `The field "${name}" must be a string.`);
    return null;
  }
  switch (rule.type) {
    case 'text':
      return readText(rule, value, name, issues);
    case 'email':
      return readEmail(rule, value, name, issues);
    case 'instant':
      return readInstant(value, name, issues);
    case 'reference':
      return value; // The store checks that the user exists, in the same step as the change.
  }
}

function readText(rule: TextRule, value: string, name: string, issues: Issues): string {
  const text = rule.trim ? value.trim() : value;
  // A code point is one or two units of UTF-16, so most lengths need no count.
  if (text.length < 2 * rule.minLength && codePoints(text) < rule.minLength) {
    const least = rule.minLength === 1 ? '1 character' : `${rule.minLength} characters`;
    issues.add([name], 'too-short', `The field "${name}" must have at least ${least}.`);
  } else if (text.length > rule.maxLength && codePoints(text) > rule.maxLength) {
    const most = `${rule.maxLength} characters`;
    issues.add([name], 'too-long', `The field "${name}" must have at most ${most}.`);
  } else if (!rule.controls && hasControl(text)) {
    issues.add([name], 'invalid', `The field "${name}" must not contain control characters.`);
  } else if (rule.visible && !hasVisible(text)) {
    issues.add([name], 'invalid', `The field "${name}" must have at least one visible character.`);
  }
  return text;
}

function readEmail(rule: EmailRule, value: string, name: string, issues: Issues): string {
  if (utf8Bytes(value) > rule.maxBytes) {
    issues.add([name], 'too-long', `The field "${name}" must have at most ${rule.maxBytes} bytes.`);
  } else if (!isEmail(value)) {
    issues.add([name], 'invalid', `The field "${name}" must be an email address.`);
  }
  return value;
}

function readInstant(value: string, name: string, issues: Issues): string {
  if (isInstant(value)) return value;
  const instant = parseRfc3339(value);
  // An instant has a year from 0000 to 9999; `instantFromMs` clamps any other.
  const read = instant && instantFromMs(instant.ms);
  if (read !== undefined && instantToMs(read) === instant?.ms) return read;
  const example = '2026-11-21T09:30:00Z';
  issues.add([name], 'invalid', `The field "${name}" must be a date-time like ${example}.`);
  return value;
}
