import { z } from 'zod';
import { processesThisMachineBears } from './config-machine.ts';

/** Value of `data` that keeps the world in memory only. */
export const IN_MEMORY = ':memory:';

/** Root's password as long as none is configured; only ever used on loopback. */
export const DEFAULT_ROOT_PASSWORD = 'terrarium';

/** What is said of a setting beside its type. */
interface SettingNotes {
  description: string;
  /** Completes "it has to be ...". */
  expected: string;
  /** Stands for the value in help texts; absent for a switch. */
  placeholder?: string;
  /** Never printed. */
  isSecret?: boolean;
}

/** The notes of each setting, by its schema. */
export const settingNotes = z.registry<SettingNotes>();

const PORT = 'a port number from 0 to 65535 (0 = choose a free one)';
const port = (defaultPort: number, description: string) =>
  z
    .int()
    .min(0)
    .max(65_535)
    .default(defaultPort)
    .register(settingNotes, { description: `${description} (0 = choose)`, expected: PORT, placeholder: 'PORT' });

const limit = (defaultLimit: number, description: string) =>
  z
    .int()
    .min(1)
    .default(defaultLimit)
    .register(settingNotes, { description, expected: 'a whole number of at least 1', placeholder: 'N' });

const publicUrl = (description: string) =>
  z
    .url({ protocol: /^https?$/ })
    .regex(/^[^?#]*$/)
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .register(settingNotes, { description, expected: 'an http or https address without a query', placeholder: 'URL' });

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
    description: 'what the window opens in: Electron where that can be and else a browser, one of both, or nothing',
    expected: 'auto, electron, browser or none',
    placeholder: 'KIND',
  }),
  basePort: port(4700, 'port of {base_url}: resources, security, logs'),
  gatewayPort: port(4701, 'port of {gateway_url}: public endpoints of lambdas'),
  crmPort: port(0, 'port of the CRM stand-in'),
  scmPort: port(0, 'port of the source-control stand-in'),
  host: z.string().regex(/^\S+$/).default('127.0.0.1').register(settingNotes, {
    description: 'address to listen on; any but loopback demands a root password',
    expected: 'an address of this machine or a host name',
    placeholder: 'HOST',
  }),
  data: z
    .string()
    .min(1)
    .default('.terrarium')
    .register(settingNotes, {
      description: `folder that keeps the world, or ${IN_MEMORY}`,
      expected: `a folder, or ${IN_MEMORY}`,
      placeholder: 'DIR',
    }),
  seed: z.string().min(1).default('demo').register(settingNotes, {
    description: 'what a new world holds: demo, empty, or a seed file',
    expected: 'demo, empty or a seed file',
    placeholder: 'SEED',
  }),
  rootPassword: z.string().min(1).default(DEFAULT_ROOT_PASSWORD).register(settingNotes, {
    description: 'password of the root user',
    expected: 'a non-empty text',
    placeholder: 'TEXT',
    isSecret: true,
  }),
  rootApiKey: z
    .string()
    .regex(/^[\w.~-]{1,128}$/)
    .optional()
    .register(settingNotes, {
      description: "root's first API key; generated when not given",
      expected: 'up to 128 letters, digits or . _ ~ -',
      placeholder: 'KEY',
    }),
  rootApiSecret: z.string().min(1).optional().register(settingNotes, {
    description: 'its secret',
    expected: 'a non-empty text',
    placeholder: 'TEXT',
    isSecret: true,
  }),
  scmToken: z.string().min(1).optional().register(settingNotes, {
    description: 'access token of the source-control stand-in; made for each data folder when not given',
    expected: 'a non-empty text',
    placeholder: 'TEXT',
    isSecret: true,
  }),
  typePrefix: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9]*$/)
    .default('Platform')
    .register(settingNotes, {
      description: 'first part of resource type names',
      expected: 'letters and digits, a letter first',
      placeholder: 'WORD',
    }),
  readyFile: z.string().min(1).optional().register(settingNotes, {
    description: 'file to write the addresses to, as JSON, when ready',
    expected: 'a file path',
    placeholder: 'FILE',
  }),
  publicBaseUrl: publicUrl('address under which clients reach {base_url}, behind a proxy'),
  publicGatewayUrl: publicUrl('address under which clients reach {gateway_url}'),
  corsOrigins: z.array(z.string().refine(isOrigin)).default([]).register(settingNotes, {
    description: 'web origins that may call the control plane',
    expected: 'origins such as https://app.example.com, separated by commas',
    placeholder: 'LIST',
  }),
  allowedHosts: z
    .array(
      z
        .string()
        .regex(/^[A-Za-z0-9._:-]+$/)
        .toLowerCase(),
    )
    .default([])
    .register(settingNotes, {
      description: 'further host names that requests may be addressed to',
      expected: 'host names without a port, separated by commas',
      placeholder: 'LIST',
    }),
  allowedHostPaths: z.array(z.string().min(1)).default([]).register(settingNotes, {
    description: 'folders of this machine that host_path volumes may name',
    expected: 'folders, separated by commas',
    placeholder: 'LIST',
  }),
  fsync: z.enum(['always', 'batch', 'never']).default('batch').register(settingNotes, {
    description: 'when a change is on disk: before its answer, in batches, or when the system likes',
    expected: 'always, batch or never',
    placeholder: 'POLICY',
  }),
  history: z
    .strictObject({
      maxCommits: limit(100_000, 'commits kept to look back at and to undo'),
      maxBytes: limit(256 * 1024 * 1024, 'bytes that they may take'),
    })
    .prefault({}),
  records: z
    .strictObject({
      keep: z.enum(['disk', 'memory', 'nothing']).default('disk').register(settingNotes, {
        description:
          'where invocations, requests and logs are recorded: in the data folder, in memory only, or not at all',
        expected: 'disk, memory or nothing',
        placeholder: 'WHERE',
      }),
      memoryBytes: limit(32 * 1024 * 1024, 'memory that all records may take; the newest are in it'),
      maxItems: limit(50_000, 'records kept of invocations, of requests and of log lines each'),
      maxBytes: limit(512 * 1024 * 1024, 'bytes that all records may take in the data folder'),
      maxDays: limit(14, 'days that they are kept'),
    })
    .prefault({}),
  containers: z
    .strictObject({
      engine: z
        .string()
        .regex(/^(auto|none|[a-z]+:\/\/\S+)$/)
        .default('auto')
        .register(settingNotes, {
          description: 'where containers run: the engine that the docker command uses, none, or an address',
          expected: 'auto, none or an address such as unix:///var/run/docker.sock or tcp://host:2376',
          placeholder: 'ENGINE',
        }),
      onStop: z.enum(['remove', 'keep']).default('remove').register(settingNotes, {
        description: 'what becomes of running instances when the emulator stops',
        expected: 'remove or keep',
        placeholder: 'remove|keep',
      }),
    })
    .prefault({}),
  lambdas: z
    .strictObject({
      modules: z.string().min(1).optional().register(settingNotes, {
        description: 'folder with a node_modules whose packages every lambda can load',
        expected: 'a folder in which npm install was run',
        placeholder: 'FOLDER',
      }),
      periodic: z.boolean().default(false).register(settingNotes, {
        description: 'run lambdas by the clock, as their periodic_info says',
        expected: 'true or false',
      }),
    })
    .prefault({}),
  outbound: z
    .strictObject({
      crm: z.enum(['catch', 'pass']).default('catch').register(settingNotes, {
        description: "catch lambdas' calls to their CRM with the stand-in, or let them pass",
        expected: 'catch or pass',
        placeholder: 'catch|pass',
      }),
    })
    .prefault({}),
  limits: z
    .strictObject({
      requestBodyBytes: limit(10 * 1024 * 1024, 'largest request body in bytes'),
      requestTargetBytes: limit(8 * 1024, 'longest path and query of a request in bytes'),
      lambdaResultBytes: limit(10 * 1024 * 1024, 'largest result of a lambda in bytes'),
      maxLambdaTimeoutS: limit(500, 'longest time-out of a lambda in seconds'),
      lambdaProcesses: limit(10, 'invocations of one lambda at a time'),
      lambdaProcessesInAll: limit(
        processesThisMachineBears(),
        'processes of all lambdas together; unless set what memory and cores allow',
      ),
      lambdaQueue: limit(100, 'invocations of one lambda that may wait'),
      maxInstances: limit(16, 'instances of one container'),
      resultsPerLambda: limit(1000, 'asynchronous results kept for each lambda'),
      resultLifetimeS: limit(24 * 60 * 60, 'seconds that an asynchronous result is kept'),
      logLines: limit(10_000, 'log lines kept for each lambda or container'),
      tokenLifetimeS: limit(8 * 60 * 60, 'seconds that an access token is valid'),
      tokenRequestsPerMinute: limit(100, 'failed attempts to sign in per minute, user and client address'),
    })
    .prefault({}),
});

/** Everything that can be set, validated and complete; paths are absolute. */
export type Config = z.output<typeof configSchema>;

/** What a caller of the library may set: any part of it. */
export type StartOptions = z.input<typeof configSchema>;
