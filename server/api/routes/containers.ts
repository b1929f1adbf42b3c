import { z } from 'zod';
import { TERMINAL_PROTOCOL } from '../../model/terminal-protocol.ts';
import { A_WORKLOAD, id, object, strictObject, time } from '../schemas/parts.ts';
import { countWithin, text } from './parameter.ts';
import { acceptedWithoutBody, defineRoutes, json, ok, permission, route, SEES_ALL, webSocket } from './route.ts';

const bytes = z.int().min(0);
const MAX_ARGUMENTS = 256;
const MAX_ARGUMENT_CHARACTERS = 64 * 1024;

export const containerInstance = object('ContainerInstance', {
  id: z.string().describe('ID of the instance in the engine'),
  state: z.enum(['starting', 'running', 'paused', 'restarting', 'exited', 'failed']),
  health: z.enum(['none', 'unknown', 'healthy', 'unhealthy']).describe('`none` if the container has no health checks'),
  isCurrent: z.boolean().describe('Of the current definition; false for old instances during a rolling update'),
  image: z.string(),
  wasKilledForMemory: z.boolean(),
  restarts: z.int().describe('Number of times that the engine started it again after it ended by itself'),
  ports: z.array(z.object({ containerPort: z.int(), host: z.string(), port: z.int() })),
  startedAt: time.optional(),
  exitCode: z.int().optional(),
  error: z.string().optional(),
  ipAddress: z.string().optional(),
});
export type ContainerInstance = z.output<typeof containerInstance>;

export const containerUsage = object('ContainerUsage', {
  containerId: id,
  instances: z.array(
    z.object({
      instanceId: z.string(),
      cpus: z.number().describe('1 means one fully used core'),
      memoryBytes: bytes,
      memoryLimitBytes: bytes,
      receivedBytes: bytes.describe('Bytes received since the instance was started'),
      sentBytes: bytes,
    }),
  ),
});
export type ContainerUsage = z.output<typeof containerUsage>;

export const imagePull = object('ImagePull', {
  containerId: id,
  image: z.string(),
  step: z.string().describe('Current step, in the words of the engine'),
  currentBytes: bytes,
  totalBytes: bytes.describe('Size of the layers known so far; 0 while no size is known'),
  startedAt: time,
});
export type ImagePull = z.output<typeof imagePull>;

/** Program and arguments; no shell is used. */
const execRequest = strictObject('ExecRequest', {
  command: z.array(z.string().max(MAX_ARGUMENT_CHARACTERS)).min(1).max(MAX_ARGUMENTS),
  /** ID of the instance or a prefix of it; the first running instance if not set. */
  instance: z.string().min(1).max(128).optional(),
});

const execOutcome = object('ExecOutcome', {
  exitCode: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  isCut: z.boolean().describe('Only the beginning of the output was kept'),
});
export type ExecOutcome = z.output<typeof execOutcome>;

export const containerEngine = object('ContainerEngine', {
  address: z.string(),
  state: z.enum(['connecting', 'ready', 'unreachable', 'off']).describe('`off` if containers.engine is none'),
  version: z.string().optional(),
  reason: z.string().optional(),
  providers: z.array(z.string()),
});

const columns = z.int().min(1).max(1_000);
const rows = z.int().min(1).max(1_000);

/** Messages from a terminal viewer besides typed input: its size, and how many bytes of output it has shown so far. */
export const terminalWord = z.union([z.strictObject({ columns, rows }), z.strictObject({ shown: z.int().min(0) })]);

const mayView = permission('*.view', A_WORKLOAD.id);
const mayUpdate = permission('*.update', A_WORKLOAD.id);

/** Running containers and jobs below `/inspect`. Each route accepts the ids of both. */
export const containerRoutes = defineRoutes('Containers and jobs', {
  listInstances: route('get /inspect/containers/{container_id}/instances', mayView, {
    summary: 'List the instances of a container',
    description: 'Returns the instances of a container or job in any state, oldest first.',
    target: A_WORKLOAD,
    answer: ok(z.array(containerInstance)),
    errors: [503],
  }),
  measureContainer: route('get /inspect/containers/{container_id}/stats', mayView, {
    summary: 'Resource usage of running instances',
    description: 'Returns one sample. The engine needs one or two seconds to measure it.',
    target: A_WORKLOAD,
    answer: ok(containerUsage),
    errors: [503],
  }),
  measureContainers: route('get /inspect/containers/stats', 'caller', {
    summary: 'Resource usage of several containers',
    description: 'Containers that cannot be measured now are left out.',
    query: {
      ids: text('IDs of containers and jobs, separated by commas; at most 50', {
        examples: ['9f0c6d0a-9f0a-4a57-8a55-0d6c8a8a2f11'],
      }),
    },
    answer: ok(z.array(containerUsage)),
    errors: [404],
  }),
  execInContainer: route('post /inspect/containers/{container_id}/exec', mayUpdate, {
    summary: 'Run a command in an instance',
    description:
      'Requires permission to update the container or job. The command is a program with arguments; no shell is used. It runs in ' +
      'the first running instance unless you name one, for at most 30 seconds. The response contains up to 1 MB of each output.',
    target: A_WORKLOAD,
    body: json(execRequest, { command: ['ls', '/'] }),
    answer: ok(execOutcome),
    errors: [409],
  }),
  openTerminal: route('get /inspect/containers/{container_id}/terminal', mayUpdate, {
    summary: 'Open a terminal in an instance',
    description:
      `A WebSocket with the protocol \`${TERMINAL_PROTOCOL}\`. Requires permission to update the container or job. The shell is ` +
      'bash if the image has it, otherwise sh. It runs in the first running instance unless you name one. Binary messages are ' +
      'typed input and printed output. Text messages are JSON: send `{"columns": 100, "rows": 30}` when the size changes, and ' +
      '`{"shown": 4096}` for the number of bytes shown so far. The server pauses when it is more than 256 KiB ahead. The last ' +
      'message is `{"ended": "exited", "exitCode": 0, "message": "..."}`, or `stopped`, `lost`, `refused`, `idle`, `closing`. The ' +
      'shell ends when the WebSocket closes, when the permission is revoked, or after half an hour without input. At most 10 ' +
      'terminals are open at a time, and at most 4 of one user. The platform rejects pages from other origins.',
    target: A_WORKLOAD,
    query: {
      instance: text('ID of the instance or a prefix of it'),
      columns: countWithin('Width in characters', 1, 1_000, 80),
      rows: countWithin('Height in characters', 1, 1_000, 24),
    },
    answer: webSocket,
    errors: [409, 426, 429, 503],
  }),
  restartContainer: route('post /inspect/containers/{container_id}/restart', mayUpdate, {
    summary: 'Replace the instances',
    description:
      'Requires permission to update. New instances use the current definition and inherited values. A job runs again. A failed ' +
      'pull is retried.',
    target: A_WORKLOAD,
    answer: acceptedWithoutBody,
    errors: [409],
  }),
  listPulls: route('get /inspect/containers/pulls', 'caller', {
    summary: 'List image pulls in progress',
    answer: ok(z.array(imagePull)),
  }),
  retryEngines: route('post /inspect/engines/retry', SEES_ALL, {
    summary: 'Reconnect to unavailable container engines',
    description: 'The platform also tries this automatically every few seconds.',
    answer: ok(z.array(containerEngine)),
  }),
});
