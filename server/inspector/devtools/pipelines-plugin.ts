import { randomUUID } from 'node:crypto';
import { jobProjects, scmPipelines, scmPlugin } from '../../mocks/scm/plugin.ts';
import { pathWithNamespace } from '../../mocks/scm/scm-state.ts';
import { typeOf } from '../../model/registry.ts';
import { endpointsOf } from '../../model/types/provider-rules.ts';
import { plugin } from '../../plugin/plugin.ts';
import { committed, deploymentRecorded, exchangeEnded } from '../../plugin/tokens.ts';
import { containers } from '../../runtimes/containers/declaration.ts';
import { pipelines } from '../../runtimes/pipelines/declaration.ts';
import { PipelineService } from '../../runtimes/pipelines/pipeline-service.ts';
import { SAMPLE_DIR } from '../../runtimes/pipelines/sample-repository.ts';
import { securityPlugin } from '../../services/security/plugin.ts';
import { packageFile } from '../../system/package-file.ts';
import { PipelineRuns } from './pipeline-runs.ts';

/** Jobs that are canceled may have to end a deployment. */
const STOP_TIMEOUT_MS = 60_000;

/** Runs of pipelines: those that the window starts, and what all report. */
export const pipelinesPlugin = plugin({
  // The engine of jobs is a setting of containers.
  declaration: { ...pipelines, settings: containers.settings },
  needs: { scm: scmPlugin, security: securityPlugin },
  async start(platform, { scm: { scm, token: scmToken, secrets }, security: { credentials } }) {
    const { view } = platform.store;
    const log = platform.logs.pipelines;
    const storedBytes = platform.config.limits.artifactMegabytes * 1024 * 1024;
    let sweeping = Promise.resolve();
    /** Removes what runs left for later ones and is too old or too much, after the sweep under way. */
    const sweep = () => {
      sweeping = sweeping
        .then(() => import('../../runtimes/pipelines/run-folder.ts'))
        .then(({ sweepStored }) => sweepStored(storedBytes))
        .catch(platform.onFault);
    };
    platform.onReady(sweep);
    platform.onStop(() => sweeping);
    const runs = new PipelineRuns({
      log,
      nowMs: platform.nowMs,
      steadyMs: platform.steadyMs,
      newId: randomUUID,
      secretsOf: secrets,
      findContainer: (id) => {
        const found = view.find(id);
        return found && typeOf(found).collection === 'containers' ? found : undefined;
      },
      endpointsOf: (container) => endpointsOf(container, view),
      onChange(run) {
        platform.publish('pipelines', { id: run.id, state: run.state });
        scm.runChanged(run);
        if (run.state !== 'running') sweep();
      },
      onDeployment: (run, deployment) => platform.emit(deploymentRecorded, { run, deployment }),
    });
    await runs.settle();
    platform.on(exchangeEnded, runs.sawExchange);
    platform.on(committed, ({ commit, changes }) => runs.sawCommit(commit, changes));
    platform.fill(jobProjects, (tokenId) => {
      for (const [, run] of log.entries())
        if (run.jobTokenId === tokenId && run.state === 'running') return run.project.id;
      return undefined;
    });
    const starter = new PipelineService({
      sampleDir: packageFile(SAMPLE_DIR),
      env: process.env,
      containerEngine: platform.config.containers.engine,
      baseUrl: () => platform.addresses.serviceAddresses().baseUrl,
      createKey: () => credentials.createKey(view.root.owner, view.root.id),
      revokeKey: (key) => credentials.revokeKey(key),
    });
    platform.fill(scmPipelines, {
      list: (projectId) => runs.list().filter(({ project }) => project.id === projectId),
      logOf: ({ id }) => runs.get(id).log,
      start: (request) => starter.start(request),
      async fail({ project, ref, isTag, sha }, reason) {
        const { id } = await runs.begin({
          project: { id: project.id, path: pathWithNamespace(project) },
          branch: ref,
          ...(isTag && { isTag }),
          sha,
          source: 'push',
          variables: { present: [], missing: [] },
          jobs: [],
        });
        await runs.progress(id, { state: 'failed', jobs: [], log: [reason], exitCode: 1 });
      },
      retry: ({ id }, job) => starter.retry(id, job),
      cancel: ({ id }) => starter.cancel(id),
      remove: ({ id }) => log.remove(id),
      async artifactsOf({ project, sha }, job) {
        const { storedArtifacts } = await import('../../runtimes/pipelines/artifacts.ts');
        return storedArtifacts(`${scm.url}/${project.path}`, sha, job);
      },
      windowUrl: ({ id }) => new URL(`pipelines?sel=${id}`, platform.addresses.windowWith('')).href,
    });
    // What jobs have to give back, they give back to a platform that still answers.
    platform.onStopping(() => starter.stop(), STOP_TIMEOUT_MS);
    platform.routes(async (guard) => {
      const { deliveryRouter } = await import('./delivery-routes.ts');
      return [deliveryRouter({ scm, scmToken, runs, starter }, guard)];
    });
  },
});
