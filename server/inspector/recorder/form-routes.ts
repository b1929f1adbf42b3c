import type { Router } from 'express';
import { type FormView, formRoutes } from '../../api/routes/forms.ts';
import { formQuery } from '../../api/routes/recorded-queries.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { MAX_LOOKED, type RecordedData, readingFor, readQuery } from './recorder-routes.ts';
import type { SentForm, SentForms } from './sent-forms.ts';

/** The forms that were sent, whether or not a lead came of them. */
export function formRouter(data: RecordedData & { forms: SentForms }, guard: RouteGuard): Router {
  const { forms, nowMs } = data;
  return mountRoutes(formRoutes, guard, {
    listForms({ caller, query: { q = '', id, scope, limit, before } }) {
      const { hide, isWanted, sees } = readingFor(data, guard, caller, { scope });
      const leads = forms.storedForms(sees).length;
      const { matches, fromMs, toMs } = readQuery(formQuery(q, nowMs()));
      if (id !== undefined) {
        const form = forms.find(id, sees);
        return { forms: form ? [{ ...hide.value(form.view()), lead: form.lead }] : [], leads };
      }
      const page: FormView[] = [];
      let next: number | undefined;
      let looked = 0;
      for (const { seq, beganMs, readForm } of forms.list(isWanted, before)) {
        if (beganMs < fromMs) break;
        if (beganMs > toMs) continue;
        if (page.length === limit || looked === MAX_LOOKED) {
          next = seq + 1;
          break;
        }
        looked += 1;
        const form = readForm();
        if (form && matches(hiddenFacts(form, hide.value))) page.push(hide.value(form.view()));
      }
      return { forms: page, next, leads };
    },
  });
}

/** The parts of a form that a search reads, without secrets. */
export function hiddenFacts(form: SentForm, hide: <T>(value: T) => T): SentForm {
  return { ...form, view: () => hide(form.view()), body: () => hide(form.body()) };
}
