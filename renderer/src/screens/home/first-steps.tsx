import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useTour } from './use-tour.ts';

/** Three ways to begin, each with what is done already ticked. */
export function FirstSteps() {
  const tour = useTour();
  return (
    <section aria-labelledby="first-steps">
      <h2 id="first-steps" className="eyebrow mb-2">
        First steps
      </h2>
      <div className="grid grid-cols-1 gap-3 lg:grid-cols-3">
        <Guide title="Look around the demo world" lead="A small shop: an organization, its website, lambdas, an API.">
          <Step isDone={tour.hasDemo} text="The demo world is there">
            {!tour.hasDemo && (
              <p className="text-muted">
                This instance began without it. <code>terrarium start --instance demo</code> opens one that has it.
              </p>
            )}
          </Step>
          <Step text="Walk through its resources">
            <PlaceLink to={{ screen: 'resources' }}>Open the tree</PlaceLink>
          </Step>
          <Step text="Change something, then take it back">
            <PlaceLink to={{ screen: 'history' }}>Open the history</PlaceLink>
          </Step>
        </Guide>

        <Guide title="A web form in 60 seconds" lead="A form on a website becomes a lead in the CRM's inbox.">
          <Step isDone={tour.form !== undefined} text="A lambda takes the form">
            {tour.form ? (
              <PlaceLink to={{ screen: 'lambdas', id: tour.form.id }}>{tour.form.name}</PlaceLink>
            ) : (
              <PlaceLink to={{ screen: 'lambdas' }}>Create one</PlaceLink>
            )}
          </Step>
          <Step isDone={tour.leadCount > 0} text="Send the form as Ada Lovelace">
            {tour.form && (
              <Button
                look={tour.leadCount > 0 ? 'plain' : 'primary'}
                isPending={tour.isSending}
                onPress={tour.sendForm}
              >
                {tour.isSending ? 'Sending ...' : tour.leadCount > 0 ? 'Send again' : 'Send the form'}
              </Button>
            )}
            {tour.formUrl && (
              <p className="flex items-center text-[12px] text-muted">
                <span className="mono truncate">POST {tour.formUrl}</span>
                <Copy text={tour.formUrl} what="public address of the form" />
              </p>
            )}
            {tour.failure && <FailureNote failure={tour.failure} />}
          </Step>
          <Step isDone={tour.leadCount > 0} text="Find the lead in the inbox">
            <PlaceLink to={{ screen: 'leads' }}>
              {tour.leadCount > 0 ? `${tour.leadCount} in the inbox` : 'Open the inbox'}
            </PlaceLink>
          </Step>
        </Guide>

        <Guide title="A pipeline in 60 seconds" lead="A merge request becomes a running app behind an address.">
          <Step isDone={tour.deployUrl !== undefined} text="A deployment endpoint waits for the build">
            {tour.deployUrl ? (
              <p className="flex items-center text-[12px] text-muted">
                <span className="mono truncate">POST {tour.deployUrl}</span>
                <Copy text={tour.deployUrl} what="address of the deployment endpoint" />
              </p>
            ) : (
              <p className="text-muted">The demo world brings one.</p>
            )}
          </Step>
          <Step isDone={tour.runCount > 0} text="Run the pipeline of the sample app">
            {tour.deployUrl !== undefined && (
              <Button
                look={tour.runCount > 0 ? 'plain' : 'primary'}
                isPending={tour.pipeline.isStarting}
                isDisabled={tour.pipeline.isRunning}
                onPress={tour.pipeline.run}
              >
                {tour.pipeline.isRunning ? 'It runs ...' : tour.runCount > 0 ? 'Run it again' : 'Run the pipeline'}
              </Button>
            )}
            <p className="flex items-center gap-1 text-muted">
              <code className="rounded bg-raised px-1.5 py-0.5">{PIPELINE_COMMAND}</code>
              <Copy text={PIPELINE_COMMAND} what="command" />
            </p>
            {tour.pipeline.failure && <FailureNote failure={tour.pipeline.failure} />}
          </Step>
          <Step isDone={tour.appUrl !== undefined} text="Open the app">
            {tour.appUrl ? (
              <a className="link" href={tour.appUrl} target="_blank" rel="noreferrer">
                {tour.appUrl}
              </a>
            ) : (
              <PlaceLink to={{ screen: 'pipelines' }}>Watch the pipelines</PlaceLink>
            )}
          </Step>
        </Guide>
      </div>
    </section>
  );
}

const PIPELINE_COMMAND = 'npx terrarium pipeline demo';

function Guide({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  return (
    <article className="card px-4 py-3.5">
      <h3 className="font-semibold">{title}</h3>
      <p className="text-muted">{lead}</p>
      <ol className="mt-3 flex flex-col gap-3">{children}</ol>
    </article>
  );
}

function Step({ text, isDone, children }: { text: string; isDone?: boolean; children: ReactNode }) {
  return (
    <li className="flex gap-2.5">
      {isDone ? (
        <CircleCheck aria-hidden size={16} className="mt-0.5 shrink-0 text-ok" />
      ) : (
        <span aria-hidden className="mt-0.5 size-4 shrink-0 rounded-full border-2 border-line-strong" />
      )}
      <div className="flex min-w-0 flex-1 flex-col items-start gap-1">
        <p className="font-medium">
          {text}
          {isDone && <span className="sr-only"> (done)</span>}
        </p>
        {children}
      </div>
    </li>
  );
}
