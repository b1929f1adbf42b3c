import { availableParallelism, totalmem } from 'node:os';

/** What a lambda's process takes in the ordinary run of things, and the part of memory that all of them may take. */
const PROCESS_BYTES = 96 * 1024 * 1024;
const PART_OF_MEMORY = 0.5;
const PROCESSES_PER_CORE = 32;
/** Fewer would make lambdas wait for each other that call one another. */
const LEAST_PROCESSES = 16;

/** How many processes of lambdas a machine bears at a time; in a container its memory is what the container may have. */
export function processesThisMachineBears(
  memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
  cores = availableParallelism(),
): number {
  const inMemory = Math.floor((memoryBytes * PART_OF_MEMORY) / PROCESS_BYTES);
  return Math.max(LEAST_PROCESSES, Math.min(inMemory, cores * PROCESSES_PER_CORE));
}
