import { z } from 'zod';
import { may, SEES_ALL } from '../contract/right.ts';
import { execWish } from '../model/exec-wish.ts';
import { accepted, listOf, type Operation, ok, ref, rowsOf } from './operation.ts';

const containers = rowsOf('Containers and jobs');
const id = z.uuid();
const time = z.iso.datetime();
const bytes = z.int().min(0);

/** What is seen of containers and jobs beyond their records. */
export const containerSchemas = {
  ContainerInstance: z.object({
    id: z.string().describe("The engine's id"),
    state: z.enum(['starting', 'running', 'restarting', 'exited', 'failed']),
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
  ContainerUsage: z.object({
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
  ExecWish: execWish,
  ExecOutcome: z.object({
    exitCode: z.int(),
    stdout: z.string(),
    stderr: z.string(),
    isCut: z.boolean().describe('Only the beginning of its output was kept'),
  }),
  ImagePull: z.object({
    containerId: id,
    image: z.string(),
    step: z.string().describe("The engine's word for what it does"),
    currentBytes: bytes,
    totalBytes: bytes.describe('Of the layers known so far; 0 while none is'),
    startedAt: time,
  }),
  ContainerEngine: z.looseObject({
    address: z.string(),
    state: z.enum(['connecting', 'ready', 'unreachable']),
    version: z.string().optional(),
    reason: z.string().optional(),
    providers: z.array(z.string()),
  }),
};

const notNow = [403, 404, 503];

/** Containers and jobs as they run: below `/inspect`, ids of both are good. */
export const containerOperations: readonly Operation[] = [
  containers(
    'get /inspect/containers/{container_id}/instances',
    'listInstances',
    'Its instances as the engine has them',
    {
      right: may('*.view', 'container_id'),
      description: 'Of a container or a job, in any state, oldest first.',
      success: ok(listOf(ref('ContainerInstance'))),
      errors: notNow,
    },
  ),
  containers('get /inspect/containers/{container_id}/stats', 'measureContainer', 'What its running instances use', {
    right: may('*.view', 'container_id'),
    description: 'One sample; the engine measures for a second or two.',
    success: ok(ref('ContainerUsage')),
    errors: notNow,
  }),
  containers('get /inspect/containers/stats', 'measureContainers', 'What several use', {
    right: 'caller',
    description: 'Those that cannot be measured now are left out.',
    query: ['container_ids'],
    success: ok(listOf(ref('ContainerUsage'))),
    errors: [400, 403, 404],
  }),
  containers('post /inspect/containers/{container_id}/exec', 'execInContainer', 'Run a command in an instance', {
    right: may('*.update', 'container_id'),
    description:
      'Takes the right to update the container or job. Program and arguments, no shell in between. Ends after 30 seconds at ' +
      'the latest; of each of its outputs 1 MB is kept. In the first running instance unless one is named.',
    body: { schema: ref('ExecWish') },
    success: ok(ref('ExecOutcome')),
    errors: [...notNow, 409],
  }),
  containers(
    'post /inspect/containers/{container_id}/restart',
    'restartContainer',
    'New instances in place of the old',
    {
      right: may('*.update', 'container_id'),
      description:
        'Takes the right to update. They get what the container inherits now; a job runs again; a pull that failed is tried again.',
      success: accepted(),
      errors: [...notNow, 409],
    },
  ),
  containers('get /inspect/containers/pulls', 'listPulls', 'Images that are being pulled now', {
    right: SEES_ALL,
    success: ok(listOf(ref('ImagePull'))),
    errors: [403],
  }),
  containers(
    'post /inspect/engines/retry',
    'retryEngines',
    'Ask container engines that are away whether they are back',
    {
      right: SEES_ALL,
      description: 'They are asked every few seconds anyway.',
      success: ok(listOf(ref('ContainerEngine'))),
      errors: [403],
    },
  ),
  rowsOf('Logs')('get /inspect/logs/{resource_id}/stream', 'followLog', 'What is printed, as it is printed', {
    right: may('*.view', 'resource_id'),
    description:
      'Of a lambda, a container or a job. Server-sent events `lines` with `{lines, hasGap}`, each with its cursor as id: first the newest ' +
      '1000 lines, or with `after` or `Last-Event-ID` those since, then each that follows. A slow reader is waited for.',
    query: ['log_after'],
    success: { ...ok({ type: 'string' }), mediaTypes: ['text/event-stream'] },
    errors: [400, 403, 404, 503],
  }),
];
