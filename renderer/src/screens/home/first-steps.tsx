import { CircleCheck, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useMissing } from '../../api/permissions.tsx';
import { isRoot } from '../../api/use-identity.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { noteStep, preferences } from '../../preferences/preferences.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useValue } from '../../value-store.ts';
import { stateWord } from '../pipelines/run-words.ts';
import { useSampleRun } from '../pipelines/use-pipelines.ts';
import { type Tour, useDemoBringing, useDemoTrial, useFormSending } from './use-tour.ts';

export function FirstSteps({ tour }: { tour: Tour }) {
  const canRunPipelines = useMissing('root') === undefined;
  return (
    <section aria-labelledby="first-steps">
      <div className="mb-2 flex items-center gap-2">
        <h2 id="first-steps" className="eyebrow">
          First steps
        </h2>
        <IconButton icon={X} label="Hide the first steps" onPress={() => noteStep('hidden')} className="size-6" />
      </div>
      <div className="grid grid-cols-1 gap-3 lg:grid-cols-3">
        <FormGuide tour={tour} />
        <DemoGuide tour={tour} />
        {canRunPipelines && <PipelineGuide tour={tour} />}
      </div>
    </section>
  );
}

function DemoGuide({ tour: { hasDemo } }: { tour: Tour }) {
  const { steps } = useValue(preferences);
  const lost = useDemoTrial(isRoot() && hasDemo === false).data?.total.delete;
  const importing = useDemoBringing();
  const canUndo = useMissing('root') === undefined;
  return (
    <Guide title="Look around the demo world" lead="A small shop: an organization, its website, lambdas, an API.">
      <Step isDone={hasDemo} text={hasDemo === false ? 'Load the demo data' : 'Demo data loaded'}>
        {hasDemo === false && lost === 0 && (
          <>
            <p className="text-muted">This instance started without it. Your own resources are not changed.</p>
            <Button look="primary" needs="root" isPending={importing.isPending} onPress={() => importing.mutate()}>
              {importing.isPending ? 'Adding ...' : 'Add the demo world'}
            </Button>
          </>
        )}
        {hasDemo === false && lost !== undefined && lost > 0 && (
          <p className="text-muted">
            The demo would replace the world of this platform. <code>{DEMO_COMMAND}</code>
            <Copy text={DEMO_COMMAND} subject="command" className="scale-90" /> opens another instance that has it; a
            reset is in the <PlaceLink to={{ screen: 'history' }}>history</PlaceLink>.
          </p>
        )}
        <FailureNote error={importing.error} />
      </Step>
      <Step isDone={steps.includes('browse')} text="Browse its resources">
        <PlaceLink to={{ screen: 'resources' }}>Open the tree</PlaceLink>
      </Step>
      {canUndo && (
        <Step isDone={steps.includes('undo')} text="Change something, then undo it">
          <PlaceLink to={{ screen: 'history' }}>Open the history</PlaceLink>
        </Step>
      )}
    </Guide>
  );
}

function FormGuide({ tour }: { tour: Tour }) {
  const { form, formUrl, leadCount, hasDemo } = tour;
  const { steps } = useValue(preferences);
  const { data: stray, ...sending } = useFormSending(formUrl);
  const hasLead = leadCount > 0;
  const canCreate = useMissing('lambda.create') === undefined;
  return (
    <Guide title="A web form in 60 seconds" lead="A form on a website becomes a lead in the CRM's inbox.">
      <Step isDone={form !== undefined} text="A lambda receives the form">
        {form ? (
          <PlaceLink to={{ screen: 'lambdas', id: form.id }}>{form.name}</PlaceLink>
        ) : hasDemo === false ? (
          <p className="text-muted">The demo world contains one.</p>
        ) : (
          hasDemo && (
            <p className="text-muted">
              No lambda has the variable CRM_OID. <PlaceLink to={{ screen: 'lambdas' }}>Open the lambdas</PlaceLink>
            </p>
          )
        )}
      </Step>
      <Step isDone={hasLead} text="Send the form as Ada Lovelace">
        {form && formUrl !== undefined && (
          <Button
            look={hasLead ? 'plain' : 'primary'}
            needs="all"
            isPending={sending.isPending}
            onPress={() => sending.mutate()}
          >
            {sending.isPending ? 'Sending ...' : hasLead ? 'Send again' : 'Send the form'}
          </Button>
        )}
        {formUrl && (
          <p className="flex max-w-full items-center text-small text-muted">
            <span className="mono truncate">POST {formUrl}</span>
            <Copy text={formUrl} subject="public address of the form" />
          </p>
        )}
        {stray && (
          <p role="alert" className="rounded-md border border-error/40 bg-error-soft px-3 py-2 text-small">
            The form did not become a lead: {stray.message}.{' '}
            {stray.executionId ? (
              <PlaceLink to={{ screen: 'invocations', search: { sel: stray.executionId } }}>
                Open the invocation
              </PlaceLink>
            ) : (
              <PlaceLink to={{ screen: 'gateway' }}>Open the gateway</PlaceLink>
            )}
          </p>
        )}
        <FailureNote error={sending.error} />
      </Step>
      <Step isDone={hasLead} text="Find the lead in the inbox">
        <PlaceLink to={{ screen: 'leads' }}>{hasLead ? `${leadCount} in the inbox` : 'Open the inbox'}</PlaceLink>
      </Step>
      {canCreate && (
        <Step isDone={steps.includes('own-form')} text="Create your own form">
          <PlaceLink to={{ screen: 'lambdas', search: { new: 'web-form' } }}>
            Start from code that sends leads
          </PlaceLink>
        </Step>
      )}
    </Guide>
  );
}

const DEMO_COMMAND = 'npx terrarium-emulator start --instance demo';

/** One way to begin: a few steps, of which those that are done are ticked. */
function Guide({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  return (
    <article className="card px-4 py-3.5">
      <h3 className="font-semibold">{title}</h3>
      <p className="text-muted">{lead}</p>
      <ol className="mt-3 flex flex-col gap-3">{children}</ol>
    </article>
  );
}

function Step({ text, isDone, children }: { text: string; isDone?: boolean | undefined; children?: ReactNode }) {
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

const PIPELINE_COMMAND = 'npx terrarium-emulator pipeline demo';

/** From a merge request to an app behind an address. */
function PipelineGuide({ tour }: { tour: Tour }) {
  const { deployUrl, lastRun: last, engineTrouble, appUrl, isAppGone, hasDemo } = tour;
  const starting = useSampleRun();
  const isRunning = last?.state === 'running';
  return (
    <Guide title="A pipeline in 60 seconds" lead="A merge request becomes a running app with a URL.">
      <Step isDone={deployUrl !== undefined} text="A deployment endpoint receives the build">
        {deployUrl ? (
          <p className="flex max-w-full items-center text-small text-muted">
            <span className="mono truncate">POST {deployUrl}</span>
            <Copy text={deployUrl} subject="address of the deployment endpoint" />
          </p>
        ) : (
          hasDemo !== undefined && (
            <p className="text-muted">
              {hasDemo ? 'No endpoint is published at /deploy.' : 'The demo world contains one.'}
            </p>
          )
        )}
      </Step>
      <Step isDone={last?.state === 'success'} text="Run the pipeline of the sample app">
        {deployUrl !== undefined && engineTrouble !== undefined && (
          <p className="text-muted">
            A pipeline builds and runs an image, but {engineTrouble}.{' '}
            <PlaceLink to={{ screen: 'containers' }}>Containers</PlaceLink>
          </p>
        )}
        {deployUrl !== undefined && (
          <Button needs="root" isPending={starting.isPending} isDisabled={isRunning} onPress={() => starting.mutate()}>
            {starting.isPending
              ? 'Starting ...'
              : isRunning
                ? 'Running ...'
                : last
                  ? 'Run it again'
                  : 'Run the pipeline'}
          </Button>
        )}
        {last && (
          <PlaceLink to={{ screen: 'pipelines', search: { sel: last.id } }}>
            {isRunning
              ? 'Watch it'
              : last.state === 'failed'
                ? 'Failed: see why'
                : `The last run: ${stateWord(last.state)}`}
          </PlaceLink>
        )}
        {deployUrl !== undefined && (
          <p className="flex items-center gap-1 text-muted">
            <code className="rounded bg-raised px-1.5 py-0.5">{PIPELINE_COMMAND}</code>
            <Copy text={PIPELINE_COMMAND} subject="command" />
          </p>
        )}
        <FailureNote error={starting.error} />
      </Step>
      <Step isDone={appUrl !== undefined} text="Open the app">
        {appUrl ? (
          <a className="link break-all" href={appUrl} target="_blank" rel="noreferrer">
            {appUrl}
          </a>
        ) : isAppGone ? (
          <p className="text-muted">The endpoint of the app was deleted: run the pipeline again.</p>
        ) : (
          <PlaceLink to={{ screen: 'pipelines' }}>Watch the pipelines</PlaceLink>
        )}
      </Step>
    </Guide>
  );
}
