import { z } from 'zod';
import type { TypeWord } from '../model/type-words.ts';

/** An id in an answer. */
export const id = z.uuid();
/** A moment in an answer: ISO 8601, UTC. */
export const time = z.iso.datetime();

/** Lambdas by the id in a path. */
export const A_LAMBDA = { id: 'lambda_id', of: ['lambdas'] } as const satisfies Target;
/** What has instances. */
export const A_WORKLOAD = { id: 'container_id', of: ['containers', 'jobs'] } as const satisfies Target;

interface Target {
  id: string;
  of: readonly TypeWord[];
}
