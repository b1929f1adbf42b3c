const PROJECT = '/projects/[^/]+';
const MERGE_REQUEST = `${PROJECT}/merge_requests(?:/[^/]+)?`;

/** The calls of the API that GitLab's list of job token access has, by method; `ANY` is every one. */
const CALLS = {
  GET: [
    '/job',
    `${PROJECT}/repository/(?:branches|changelog|tags)`,
    `${PROJECT}/repository/commits/[^/]+(?:/merge_requests)?`,
    `${PROJECT}/repository/files/[^/]+/raw`,
    MERGE_REQUEST,
    `${MERGE_REQUEST}/notes(?:/[^/]+)?`,
  ],
  POST: [`${PROJECT}/trigger/pipeline`],
  PUT: [`${PROJECT}/pipelines/[^/]+/metadata`],
  ANY: [
    `${PROJECT}/(?:deployments|environments|packages|releases|registry|secure_files)(?:/.*)?`,
    `${PROJECT}/jobs/(?:[^/]+/)?artifacts(?:/.*)?`,
  ],
};

const patterns = Object.entries(CALLS).map(
  ([method, paths]) => [method, new RegExp(`^(?:${paths.join('|')})/?$`)] as const,
);

/** True if a job's token may call this. Everything else is rejected, as on GitLab. */
export function isOpenToJobs(method: string, path: string): boolean {
  const read = method === 'HEAD' ? 'GET' : method;
  return patterns.some(([openMethod, pattern]) => (openMethod === 'ANY' || openMethod === read) && pattern.test(path));
}
