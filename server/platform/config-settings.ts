import { z } from 'zod';
import { settingNotes } from '../plugin/declaration.ts';
import { type Config, configSchema } from './config-schema.ts';

/** One setting with its names as a flag, a variable and a key. */
export interface Setting {
  /** Key in the configuration and in terrarium.json, such as `limits.logLines`. */
  key: string;
  path: readonly string[];
  /** Such as `--limits-log-lines`. */
  flag: string;
  /** Such as `TERRARIUM_LIMITS_LOG_LINES`. */
  env: string;
  description: string;
  /** Completes "it must be ...". */
  expected: string;
  /** Placeholder of the value in help texts; absent for a switch. */
  placeholder?: string;
  isSecret?: boolean;
  /** Parses a text from a flag or the environment; returns an invalid text unchanged, which the schema then rejects. */
  fromText(text: string): unknown;
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional
    ? unwrapped(schema.unwrap())
    : schema;
}

function textReader(schema: z.core.$ZodType): Setting['fromText'] {
  if (schema instanceof z.ZodNumber) return (text) => (/^-?\d+$/.test(text) ? Number(text) : text);
  if (schema instanceof z.ZodBoolean) return (text) => (text === 'true' ? true : text === 'false' ? false : text);
  if (schema instanceof z.ZodArray) return (text) => text.split(',').map((item) => item.trim());
  return (text) => text;
}

function* settingsIn(shape: z.core.$ZodShape, above: readonly string[] = []): Generator<Setting> {
  for (const [name, schema] of Object.entries(shape)) {
    const path = [...above, name];
    const inner = unwrapped(schema);
    if (inner instanceof z.ZodObject) {
      yield* settingsIn(inner.shape, path);
      continue;
    }
    const notes = settingNotes.get(schema);
    if (!notes) throw new Error(`setting ${path.join('.')} has no notes`);
    const nameParts = path.flatMap((part) => part.split(/(?=[A-Z])/)).map((namePart) => namePart.toLowerCase());
    yield {
      ...notes,
      key: path.join('.'),
      path,
      flag: `--${nameParts.join('-')}`,
      env: `TERRARIUM_${nameParts.join('_').toUpperCase()}`,
      fromText: textReader(inner),
    };
  }
}

export const settings: readonly Setting[] = [...settingsIn(configSchema.shape)];

const MASK = '****';

/** A setting's value for display: secrets and credentials in addresses are masked. */
export function toValueView(setting: Setting, config: Config): unknown {
  const value = valueAt(config, setting.path);
  if (setting.isSecret && value !== undefined) return MASK;
  return typeof value === 'string' ? value.replace(/(?<=^[a-z+]+:\/\/)[^/@]*(?=@)/, MASK) : value;
}

/** The value at a path, or undefined; considers only own members of plain objects. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), value);
}

export function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
