import { createHash, createHmac } from 'node:crypto';

/** Number of a pipeline in the API of the mock GitLab, as in `CI_PIPELINE_ID`. */
export const pipelineNumber = ({ id, jobTokenId = id }: { id: string; jobTokenId?: string | undefined }) =>
  numberOf(jobTokenId);
/** Number of a job there, as in `CI_JOB_ID`. */
export const jobNumber = (runId: string, name: string) => numberOf(`${runId} ${name}`);
/** The token for the jobs of a pipeline, derived from the token of the server, so that it cannot be guessed. */
export const jobTokenOf = (tokenId: string, token: string) =>
  `glcbt-${tokenId}-${createHmac('sha256', token).update(tokenId).digest('hex').slice(0, 32)}`;
const numberOf = (text: string) => Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 7), 16);
