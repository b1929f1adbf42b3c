import type { ReactNode } from 'react';
import type { PipelineApp, PipelineDeployment, PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { useSeesAll } from '../../api/permissions.tsx';
import { Duration, Time } from '../../components/amount.tsx';
import { Copy } from '../../components/copy.tsx';
import { type Condition, State } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { conditionOfStatus, reasonOf, statusWord } from '../containers/container-status.ts';
import { useRecord } from '../resources/use-record.ts';
import { answerOf } from './run-words.ts';
import { useScmProject } from './use-pipelines.ts';

/** Effects of a run: the merge request, the deployment request, the container, its endpoint, the note about it. */
export function RunStory({ run }: { run: PipelineRun }) {
  const latest = run.deployments?.at(-1);
  return (
    <ol className="flex flex-col gap-4 px-4 py-3">
      <MergeRequest run={run} />
      {latest ? (
        <>
          <DeployRequest deployment={latest} />
          <Container deployment={latest} />
          <Published deployment={latest} />
          <Note run={run} deployment={latest} />
        </>
      ) : (
        <Chapter title="Deploy request" is="idle" stateText={run.state === 'running' ? 'not yet' : 'none'}>
          {run.state === 'running' ? 'Its request to the deployment endpoint appears here.' : withoutRequest(run)}
        </Chapter>
      )}
      {run.apps?.map((app) => (
        <App key={app.containerId ?? app.name} app={app} />
      ))}
    </ol>
  );
}

/** Result of the check at the end of the run. */
function App({ app: { containerId, name, image, instances, url, status, problem } }: { app: PipelineApp }) {
  return (
    <Chapter
      title={`App ${name}`}
      is={problem === undefined ? 'ok' : 'error'}
      stateText={status ?? (problem ? 'failed' : 'runs')}
    >
      {image !== undefined && (
        <p className="mono">
          {image}
          {instances !== undefined && `, ${instances} ${instances === 1 ? 'instance' : 'instances'}`}
        </p>
      )}
      {url !== undefined && <p className="mono break-all">{url}</p>}
      {problem !== undefined && <p className="text-error">{problem}</p>}
      {containerId !== undefined && (
        <PlaceLink to={{ screen: 'containers', search: { sel: containerId } }}>Container</PlaceLink>
      )}
    </Chapter>
  );
}

function withoutRequest({ deployUrl }: PipelineRun): string {
  return deployUrl === undefined
    ? 'The variable PLATFORM_DEPLOY_URL is not set, so there was no deployment.'
    : `No request to ${deployUrl} during the run.`;
}

interface ChapterProps {
  title: string;
  is: Condition;
  stateText?: ReactNode;
  children?: ReactNode;
}

function Chapter({ title, is, stateText, children }: ChapterProps) {
  return (
    <li>
      <p className="flex items-center justify-between gap-2">
        <span className="eyebrow">{title}</span>
        <State is={is}>{stateText}</State>
      </p>
      <div className="min-w-0 break-words text-muted">{children}</div>
    </li>
  );
}

function MergeRequest({ run: { project, mergeRequest, branch } }: { run: PipelineRun }) {
  const seesProjects = useSeesAll();
  const found = useScmProject(project.id)?.merge_requests.find(({ iid }) => iid === mergeRequest?.iid);
  if (!mergeRequest) return null;
  return (
    <Chapter
      title="Merge request"
      is={found ? 'ok' : 'idle'}
      stateText={found?.state ?? (seesProjects ? 'deleted' : 'state not shown')}
    >
      <a className="link" href={found?.web_url ?? mergeRequest.url} target="_blank" rel="noreferrer">
        !{mergeRequest.iid} {found?.title}
      </a>
      <p className="mono">
        {branch} {'→'} {found?.target_branch ?? '?'}
      </p>
    </Chapter>
  );
}

function DeployRequest({ deployment }: { deployment: PipelineDeployment }) {
  const { target, durationMs, atMs, image, executionId, endpointId, problem, action } = deployment;
  const isRefused = problem !== undefined;
  return (
    <Chapter
      title={action === 'stop' ? 'Stop request' : 'Deploy request'}
      is={isRefused ? 'error' : 'ok'}
      stateText={answerOf(deployment)}
    >
      <p className="mono">POST {target}</p>
      <p>
        <Time at={atMs} as="clock" />, <Duration ms={durationMs} />
      </p>
      {image !== undefined && <p className="mono">{image}</p>}
      {isRefused && <p className="text-error">{problem}</p>}
      <p className="flex gap-3">
        {executionId !== undefined ? (
          <PlaceLink to={{ screen: 'invocations', search: { sel: executionId } }}>Invocation</PlaceLink>
        ) : (
          <PlaceLink to={{ screen: 'gateway', search: { q: `path:${target}` } }}>Request</PlaceLink>
        )}
        {endpointId !== undefined && <PlaceLink to={{ screen: 'resources', id: endpointId }}>Endpoint</PlaceLink>}
      </p>
    </Chapter>
  );
}

/** A record that may have been deleted since. */
function useRecordNow(id: string | undefined) {
  const { data } = useRecord(id, 'root');
  return { record: data ?? undefined, isGone: data === null };
}

function Container({ deployment: { container, action } }: { deployment: PipelineDeployment }) {
  const { record, isGone } = useRecordNow(container?.id);
  if (!container) return null;
  const status = String(record?.properties.status ?? 'unknown');
  const reason = record && reasonOf(record);
  if (isGone) {
    return (
      <Chapter title="Container" is="idle" stateText={action === 'stop' ? 'removed' : 'removed since'}>
        <span className="mono">{container.name}</span>
      </Chapter>
    );
  }
  return (
    <Chapter title="Container" is={conditionOfStatus(status)} stateText={statusWord(status)}>
      <PlaceLink to={{ screen: 'containers', search: { sel: container.id } }}>{container.name}</PlaceLink>
      {reason && <p>{reason}</p>}
    </Chapter>
  );
}

function Published({ deployment: { published } }: { deployment: PipelineDeployment }) {
  const { record, isGone } = useRecordNow(published?.id);
  if (!published) return null;
  const url = typeof record?.properties.public_url === 'string' ? record.properties.public_url : published.url;
  return (
    <Chapter title="Endpoint" is={isGone ? 'idle' : 'ok'} stateText={isGone ? 'removed since' : 'published'}>
      {isGone ? (
        <span className="mono">{url}</span>
      ) : (
        <>
          <span className="flex items-center">
            <a className="link mono min-w-0 break-all" href={url} target="_blank" rel="noreferrer">
              {url}
            </a>
            <Copy text={url} subject="public address of the app" className="scale-90" />
          </span>
          <PlaceLink to={{ screen: 'resources', id: published.id }}>Endpoint</PlaceLink>
        </>
      )}
    </Chapter>
  );
}

/** The note that the mock GitLab received, always shown as text. */
function Note({ run, deployment }: { run: PipelineRun; deployment: PipelineDeployment }) {
  const seesProjects = useSeesAll();
  const project = useScmProject(run.project.id);
  const { noteId, isEnvironmentTold } = deployment;
  const note = project?.merge_requests.flatMap(({ notes }) => notes).find(({ id }) => id === noteId);
  const environment = project?.environments.find(({ name }) => name === `review/${run.branch}`);
  if (!seesProjects || deployment.problem !== undefined || deployment.action === 'stop') return null;
  return (
    <>
      <Chapter
        title="Merge request note"
        is={note ? 'ok' : noteId === undefined ? 'warning' : 'idle'}
        stateText={note ? 'received' : noteId === undefined ? 'none' : 'removed since'}
      >
        {note && (
          <blockquote className="mt-1 rounded-md border border-line bg-raised px-2.5 py-1.5 whitespace-pre-wrap">
            <p className="text-small text-faint">
              {note.author.name}, <Time at={note.created_at} />
            </p>
            {note.body}
          </blockquote>
        )}
        {noteId === undefined && 'The deployment lambda did not post to the merge request; its log says why.'}
      </Chapter>
      <Chapter
        title="Review environment"
        is={isEnvironmentTold ? 'ok' : 'warning'}
        stateText={isEnvironmentTold ? (environment?.state ?? 'reported') : 'not reported'}
      >
        <span className="mono">{environment?.name ?? `review/${run.branch}`}</span>
      </Chapter>
    </>
  );
}
