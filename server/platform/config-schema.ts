import { z } from 'zod';
import { limit, settingNotes } from '../plugin/declaration.ts';
import { declaredLimits, declaredSettings } from './declarations.ts';

/** Value of `data` that keeps the world in memory only. */
export const IN_MEMORY = ':memory:';
/** Folder for earlier worlds, inside the data folder: that may be a mount, and version control ignores it. */
export const SET_ASIDE = 'set-aside';

const publicUrl = (description: string) =>
  z
    .url({ protocol: /^https?$/ })
    .regex(/^[^?#]*$/)
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .register(settingNotes, { description, expected: 'an http or https address without a query', placeholder: 'URL' });

const hostList = (description: string, expectedItems: string) =>
  z
    .array(
      z
        .string()
        .regex(/^[A-Za-z0-9._:-]+$/)
        .toLowerCase(),
    )
    .default([])
    .register(settingNotes, { description, expected: `${expectedItems}, separated by commas`, placeholder: 'LIST' });

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;

/**
 * Every setting, once (D-001, D-011, D-013, D-079, D-080, D-142, D-169, D-185, D-200). Flag, environment variable and
 * terrarium.json key have the same name in their own spelling: `--base-port`, `TERRARIUM_BASE_PORT`, `basePort`;
 * `--limits-log-lines`, `TERRARIUM_LIMITS_LOG_LINES`, `limits: {logLines}`.
 */
export const configSchema = z.strictObject({
  headless: z
    .boolean()
    .default(false)
    .register(settingNotes, { description: 'start without a window', expected: 'true or false' }),
  window: z.enum(['auto', 'electron', 'browser', 'none']).default('auto').register(settingNotes, {
    description: 'how to open the window: auto (Electron if available, otherwise a browser), electron, browser or none',
    expected: 'auto, electron, browser or none',
    placeholder: 'KIND',
  }),
  ...declaredSettings,
  host: z.string().regex(/^\S+$/).default('127.0.0.1').register(settingNotes, {
    description: 'address to listen on; other than loopback requires a root password',
    expected: 'an address of this machine or a host name',
    placeholder: 'HOST',
  }),
  data: z
    .string()
    .min(1)
    .default('.terrarium')
    .register(settingNotes, {
      description: `folder of the world, or ${IN_MEMORY} to keep it in memory`,
      expected: `a folder, or ${IN_MEMORY}`,
      placeholder: 'DIR',
    }),
  seed: z.string().min(1).default('demo').register(settingNotes, {
    description: 'contents of a new world: demo, empty, or a seed file or folder',
    expected: 'demo, empty, or a seed file or folder',
    placeholder: 'SEED',
  }),
  typePrefix: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9]*$/)
    .default('Platform')
    .register(settingNotes, {
      description: 'prefix of resource type names, as in Platform::Resource::Node::Lambda',
      expected: 'letters and digits, a letter first',
      placeholder: 'WORD',
    }),
  readyFile: z.string().min(1).optional().register(settingNotes, {
    description: 'file to write the addresses to as JSON when the platform is ready',
    expected: 'a file path',
    placeholder: 'FILE',
  }),
  publicBaseUrl: publicUrl('address of {base_url} for clients, if it is behind a proxy'),
  publicGatewayUrl: publicUrl('address of {gateway_url} for clients, if it is behind a proxy'),
  corsOrigins: z.array(z.string().refine(isOrigin)).default([]).register(settingNotes, {
    description: 'web origins that may call the control plane',
    expected: 'origins such as https://app.example.com, separated by commas',
    placeholder: 'LIST',
  }),
  allowedHosts: hostList('additional host names that requests may be addressed to', 'host names without a port'),
  linkLocalHosts: hostList(
    'link-local and metadata hosts that packages, push and pull may read from',
    'host names or addresses',
  ),
  fsync: z.enum(['always', 'batch', 'never']).default('batch').register(settingNotes, {
    description: 'when to flush changes to disk: always (before each response), batch or never (left to the system)',
    expected: 'always, batch or never',
    placeholder: 'POLICY',
  }),
  limits: z
    .strictObject({
      requestBodyBytes: limit(10 * 1024 * 1024, 'largest request body in bytes'),
      requestTargetBytes: limit(8 * 1024, 'longest path and query of a request in bytes'),
      maxLambdaTimeoutS: limit(500, 'longest timeout of a lambda in seconds'),
      ...declaredLimits,
    })
    .prefault({}),
});

/** All settings, validated and complete; paths are absolute. */
export type Config = z.output<typeof configSchema>;

/** Options of the library: any part of the settings. */
export type StartOptions = z.input<typeof configSchema>;

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
