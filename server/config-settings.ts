import { z } from 'zod';
import { type Config, configSchema, DEFAULT_ROOT_PASSWORD, settingNotes } from './config-schema.ts';

/** One setting as the outside names and writes it. */
export interface Setting {
  /** Its place in the configuration and in terrarium.json, e.g. `limits.logLines`. */
  key: string;
  path: readonly string[];
  /** E.g. `--limits-log-lines`. */
  flag: string;
  /** E.g. `TERRARIUM_LIMITS_LOG_LINES`. */
  env: string;
  description: string;
  /** Completes "it has to be ...". */
  expected: string;
  /** Stands for the value in help texts; absent for a switch. */
  placeholder?: string;
  isSecret?: boolean;
  /** The value that a text from a flag or the environment means; the text itself when it means none, for the schema to refuse. */
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
    const words = path.flatMap((part) => part.split(/(?=[A-Z])/)).map((word) => word.toLowerCase());
    yield {
      ...notes,
      key: path.join('.'),
      path,
      flag: `--${words.join('-')}`,
      env: `TERRARIUM_${words.join('_').toUpperCase()}`,
      fromText: textReader(inner),
    };
  }
}

/** All settings, in the order of the schema. */
export const settings: readonly Setting[] = [...settingsIn(configSchema.shape)];

const MASK = '****';

/** A setting's value as it may be seen: secrets and the credentials in addresses are masked; the password that everybody knows is none. */
export function shownValue(setting: Setting, config: Config): unknown {
  const value = valueAt(config, setting.path);
  if (setting.isSecret && value !== undefined && value !== DEFAULT_ROOT_PASSWORD) return MASK;
  return typeof value === 'string' ? value.replace(/(?<=^[a-z+]+:\/\/)[^/@]*(?=@)/, MASK) : value;
}

/** The value at a path, or undefined; reaches own members of plain objects only. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), value);
}

/** Is the value a plain object, as JSON makes them? */
export function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
