import { availableParallelism, totalmem } from 'node:os';
import { z } from 'zod';
import { type Declaration, limit, settingNotes } from '../../plugin/declaration.ts';

/** Typical memory of a lambda process, and the share of memory for all lambda processes. */
const PROCESS_BYTES = 96 * 1024 * 1024;
const PART_OF_MEMORY = 0.5;
const PROCESSES_PER_CORE = 32;
/** With fewer, lambdas that call one another could wait for each other. */
const LEAST_PROCESSES = 16;

/** Maximum number of concurrent lambda processes on this machine, by cores and memory (in a container: its memory limit). */
export function defaultLambdaProcesses(
  memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
  cores = availableParallelism(),
): number {
  const inMemory = Math.trunc((memoryBytes * PART_OF_MEMORY) / PROCESS_BYTES);
  return Math.max(LEAST_PROCESSES, Math.min(inMemory, cores * PROCESSES_PER_CORE));
}

export const lambdas = {
  settings: {
    lambdas: z
      .strictObject({
        modules: z.string().min(1).optional().register(settingNotes, {
          description: 'folder with a node_modules that every lambda can load packages from',
          expected: 'a folder in which npm install was run',
          placeholder: 'FOLDER',
        }),
        debugPort: z.int().min(0).max(65_535).default(9229).register(settingNotes, {
          description: 'port for the debugger of a lambda; others get the next free ports, and with 0 any free port',
          expected: 'a port number',
          placeholder: 'PORT',
        }),
        periodic: z.boolean().default(false).register(settingNotes, {
          description: 'invoke lambdas periodically, as defined in their periodic_info',
          expected: 'true or false',
        }),
      })
      .prefault({}),
  },
  limits: {
    lambdaResultBytes: limit(10 * 1024 * 1024, 'largest result of a lambda in bytes'),
    lambdaProcesses: limit(10, 'concurrent invocations of one lambda'),
    lambdaProcessesInAll: limit(
      defaultLambdaProcesses(),
      'processes of all lambdas together; depends on memory and cores if not set',
    ),
    lambdaQueue: limit(100, 'maximum number of waiting invocations of one lambda'),
    logLines: limit(10_000, 'maximum number of log lines of each lambda or container'),
  },
  topics: ['logs', 'workbench'] as const,
} satisfies Declaration;
