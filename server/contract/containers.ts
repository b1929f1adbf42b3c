import { z } from 'zod';
import { TERMINAL_PROTOCOL } from '../model/terminal-words.ts';
import { named } from './named.ts';
import { countWithin, text } from './parameter.ts';
import { A_WORKLOAD, id, time } from './parts.ts';
import { may, SEES_ALL } from './right.ts';
import { json, ok, rowsOf, underWay, webSocket } from './row.ts';

const bytes = z.int().min(0);
const MAX_ARGUMENTS = 256;
const MAX_ARGUMENT_CHARACTERS = 64 * 1024;

export const containerInstance = named(
  'ContainerInstance',
  z.object({
    id: z.string().describe("The engine's id"),
    state: z.enum(['starting', 'running', 'paused', 'restarting', 'exited', 'failed']),
    health: z.enum(['none', 'unknown', 'healthy', 'unhealthy']).describe('`none` without health checks'),
    isCurrent: z.boolean().describe('Made from the present definition; in a rolling update the old ones are not'),
    image: z.string(),
    wasKilledForMemory: z.boolean(),
    ports: z.array(z.object({ containerPort: z.int(), host: z.string(), port: z.int() })),
    startedAt: time.optional(),
    exitCode: z.int().optional(),
    error: z.string().optional(),
    ipAddress: z.string().optional(),
  }),
);
export type ContainerInstance = z.output<typeof containerInstance>;

export const containerUsage = named(
  'ContainerUsage',
  z.object({
    containerId: id,
    instances: z.array(
      z.object({
        instanceId: z.string(),
        cpus: z.number().describe('1 is one core fully used'),
        memoryBytes: bytes,
        memoryLimitBytes: bytes,
        receivedBytes: bytes.describe('Since it was started'),
        sentBytes: bytes,
      }),
    ),
  }),
);
export type ContainerUsage = z.output<typeof containerUsage>;

export const imagePull = named(
  'ImagePull',
  z.object({
    containerId: id,
    image: z.string(),
    step: z.string().describe("The engine's word for what it does"),
    currentBytes: bytes,
    totalBytes: bytes.describe('Of the layers known so far; 0 while none is'),
    startedAt: time,
  }),
);
export type ImagePull = z.output<typeof imagePull>;

/** Program and arguments, no shell in between. */
const execRequest = named(
  'ExecRequest',
  z.strictObject({
    command: z.array(z.string().max(MAX_ARGUMENT_CHARACTERS)).min(1).max(MAX_ARGUMENTS),
    /** Id of the instance, or the beginning of it; the first running one without. */
    instance: z.string().min(1).max(128).optional(),
  }),
);

const execOutcome = named(
  'ExecOutcome',
  z.object({
    exitCode: z.int(),
    stdout: z.string(),
    stderr: z.string(),
    isCut: z.boolean().describe('Only the beginning of its output was kept'),
  }),
);
export type ExecOutcome = z.output<typeof execOutcome>;

const containerEngine = named(
  'ContainerEngine',
  z.object({
    address: z.string(),
    state: z
      .enum(['connecting', 'ready', 'unreachable', 'off'])
      .describe('`off`: the setting containers.engine is none'),
    version: z.string().optional(),
    reason: z.string().optional(),
    providers: z.array(z.string()),
  }),
);

const columns = z.int().min(1).max(1_000);
const rows = z.int().min(1).max(1_000);

/** What a viewer of a terminal says besides what is typed: its size, or how many bytes of output it has shown so far. */
export const terminalWord = z.union([z.strictObject({ columns, rows }), z.strictObject({ shown: z.int().min(0) })]);

const mayView = may('*.view', A_WORKLOAD.id);
const mayUpdate = may('*.update', A_WORKLOAD.id);

/** Containers and jobs as they run, beyond their records: below `/inspect`, ids of both are good. */
export const containerRows = rowsOf('Containers and jobs', {
  listInstances: {
    route: 'get /inspect/containers/{container_id}/instances',
    summary: 'Its instances as the engine has them',
    description: 'Of a container or a job, in any state, oldest first.',
    right: mayView,
    target: A_WORKLOAD,
    answer: ok(z.array(containerInstance)),
    errors: [503],
  },
  measureContainer: {
    route: 'get /inspect/containers/{container_id}/stats',
    summary: 'What its running instances use',
    description: 'One sample; the engine measures for a second or two.',
    right: mayView,
    target: A_WORKLOAD,
    answer: ok(containerUsage),
    errors: [503],
  },
  measureContainers: {
    route: 'get /inspect/containers/stats',
    summary: 'What several use',
    description: 'Those that cannot be measured now are left out.',
    right: 'caller',
    query: {
      ids: text('Ids of containers and jobs, with commas between; at most 50', {
        examples: ['9f0c6d0a-9f0a-4a57-8a55-0d6c8a8a2f11'],
      }),
    },
    answer: ok(z.array(containerUsage)),
    errors: [403, 404],
  },
  execInContainer: {
    route: 'post /inspect/containers/{container_id}/exec',
    summary: 'Run a command in an instance',
    description:
      'Takes the right to update the container or job. Program and arguments, no shell in between. Ends after 30 seconds at ' +
      'the latest; of each of its outputs 1 MB is kept. In the first running instance unless one is named.',
    right: mayUpdate,
    target: A_WORKLOAD,
    body: json(execRequest),
    answer: ok(execOutcome),
    errors: [409, 503],
  },
  openTerminal: {
    route: 'get /inspect/containers/{container_id}/terminal',
    summary: 'A terminal in an instance',
    description:
      `A WebSocket of the protocol \`${TERMINAL_PROTOCOL}\`, which takes the right to update the container or job. It is bash where ` +
      'the image has it, else sh, in the first running instance unless one is named. Binary messages are what is typed and what is ' +
      'printed. Text is JSON: the viewer says `{"columns": 100, "rows": 30}` when its size changes and `{"shown": 4096}`, how many ' +
      'bytes it has shown so far; more than 256 KiB ahead of that nothing is sent. The last word is `{"ended": "exited", ' +
      '"exitCode": 0, "message": "..."}`, or `stopped`, `lost`, `refused`, `idle`, `closing`. A shell ends with its WebSocket, ' +
      'with the right to it, and after half an hour without a key; at most 10 are open at a time. Pages of other origins are refused.',
    right: mayUpdate,
    target: A_WORKLOAD,
    query: {
      instance: text('Its id, or the beginning of it'),
      columns: countWithin('Width in characters', 1, 1_000, 80),
      rows: countWithin('Height in characters', 1, 1_000, 24),
    },
    answer: webSocket,
    errors: [409, 426, 429, 503],
  },
  restartContainer: {
    route: 'post /inspect/containers/{container_id}/restart',
    summary: 'New instances in place of the old',
    description:
      'Takes the right to update. They get what the container inherits now; a job runs again; a pull that failed is tried again.',
    right: mayUpdate,
    target: A_WORKLOAD,
    answer: underWay,
    errors: [409, 503],
  },
  listPulls: {
    route: 'get /inspect/containers/pulls',
    summary: 'Images that are being pulled now',
    right: 'caller',
    answer: ok(z.array(imagePull)),
  },
  retryEngines: {
    route: 'post /inspect/engines/retry',
    summary: 'Ask container engines that are away whether they are back',
    description: 'They are asked every few seconds anyway.',
    right: SEES_ALL,
    answer: ok(z.array(containerEngine)),
  },
});
