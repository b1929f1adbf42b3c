import type { PipelineRun } from '../../model/pipeline-run.ts';
import type { Declaration } from '../../plugin/declaration.ts';
import { limit, log } from '../../plugin/declaration.ts';

/** The optional package that reads `.gitlab-ci.yml`, in the version that is tested. */
export const READER = 'gitlab-ci-local@4.66';
export const INSTALL_READER = `npm install --save-dev ${READER}`;

export const pipelines = {
  limits: { artifactMegabytes: limit(4096, 'size of all artifacts and caches of pipelines, in MB') },
  topics: ['pipelines'] as const,
  logs: {
    pipelines: log<PipelineRun>({
      part: 'pipelines',
      caps: { maxItems: 200, maxBytes: 64 * 1024 * 1024 },
      reset: true,
    }),
  },
} satisfies Declaration;
