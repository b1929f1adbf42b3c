import { z } from 'zod';

const MAX_ARGUMENTS = 256;
const MAX_ARGUMENT_CHARACTERS = 64 * 1024;

/** A command to run inside an instance of a container or job: program and arguments, no shell in between. */
export const execRequest = z.strictObject({
  command: z.array(z.string().max(MAX_ARGUMENT_CHARACTERS)).min(1).max(MAX_ARGUMENTS),
  /** Id of the instance, or the beginning of it; the first running one without. */
  instance: z.string().min(1).max(128).optional(),
});
