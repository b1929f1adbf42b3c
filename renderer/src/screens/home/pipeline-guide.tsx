import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { Guide, Step } from './step.tsx';
import type { Tour } from './use-tour.ts';

const PIPELINE_COMMAND = 'npx terrarium pipeline demo';

/** From a merge request to an app behind an address. */
export function PipelineGuide({ tour }: { tour: Tour }) {
  const { deployUrl, pipeline, appUrl, isAppGone, hasDemo } = tour;
  const { last, isStarting, error, engineTrouble } = pipeline;
  const isRunning = last?.state === 'running';
  return (
    <Guide title="A pipeline in 60 seconds" lead="A merge request becomes a running app behind an address.">
      <Step isDone={deployUrl !== undefined} text="A deployment endpoint waits for the build">
        {deployUrl ? (
          <p className="flex max-w-full items-center text-[12px] text-muted">
            <span className="mono truncate">POST {deployUrl}</span>
            <Copy text={deployUrl} what="address of the deployment endpoint" />
          </p>
        ) : (
          hasDemo !== undefined && (
            <p className="text-muted">
              {hasDemo ? 'Nothing is published at /deploy any more.' : 'The demo world brings one.'}
            </p>
          )
        )}
      </Step>
      <Step isDone={last?.state === 'success'} text="Run the pipeline of the sample app">
        {deployUrl !== undefined && engineTrouble !== undefined && (
          <p className="text-muted">
            It builds and runs an image, but {engineTrouble}.{' '}
            <PlaceLink to={{ screen: 'containers' }}>Containers</PlaceLink>
          </p>
        )}
        {deployUrl !== undefined && (
          <Button
            look={last || engineTrouble !== undefined ? 'plain' : 'primary'}
            isPending={isStarting}
            isDisabled={isRunning}
            onPress={pipeline.run}
          >
            {isStarting ? 'Starting ...' : isRunning ? 'It runs ...' : last ? 'Run it again' : 'Run the pipeline'}
          </Button>
        )}
        {last && (
          <PlaceLink to={{ screen: 'pipelines', search: { sel: last.id } }}>
            {isRunning ? 'Watch it' : last.state === 'failed' ? 'It failed: see why' : `The last one: ${last.state}`}
          </PlaceLink>
        )}
        {deployUrl !== undefined && (
          <p className="flex items-center gap-1 text-muted">
            <code className="rounded bg-raised px-1.5 py-0.5">{PIPELINE_COMMAND}</code>
            <Copy text={PIPELINE_COMMAND} what="command" />
          </p>
        )}
        <FailureNote error={error} />
      </Step>
      <Step isDone={appUrl !== undefined} text="Open the app">
        {appUrl ? (
          <a className="link break-all" href={appUrl} target="_blank" rel="noreferrer">
            {appUrl}
          </a>
        ) : isAppGone ? (
          <p className="text-muted">Its endpoint was removed since: run the pipeline again.</p>
        ) : (
          <PlaceLink to={{ screen: 'pipelines' }}>Watch the pipelines</PlaceLink>
        )}
      </Step>
    </Guide>
  );
}
