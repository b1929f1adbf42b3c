import type { Answering } from './public-address.ts';

/** Code to begin a lambda with. */
export interface Starter {
  id: string;
  text: string;
  note: string;
  code: string;
  env?: Readonly<Record<string, string>>;
  /** It is for callers from outside, and so begins with a public address. */
  answering?: Answering;
}

const HELLO = `exports.run = (event, context, callback) => {
  console.log('called with ' + event);
  callback(null, 'Hello from ' + JSON.parse(context).lambdaName);
};
`;

const WEB_FORM = `// Forwards a web form to the CRM's web-to-lead form.
const https = require('node:https');

exports.run = (event, context, callback) => {
  const { payload } = JSON.parse(event);
  const form = new URLSearchParams({
    oid: process.env.CRM_OID,
    lead_source: 'Website',
    first_name: payload.firstName,
    last_name: payload.lastName,
    company: payload.company,
    email: payload.email,
    title: payload.title,
    phone: payload.phone,
    employees: payload.size,
    '00N5g00000XXXXX': payload.message,
  });
  const request = https.request(
    {
      method: 'POST',
      hostname: process.env.CRM_API_BASEPATH,
      path: process.env.CRM_PATH,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    },
    (response) => {
      console.log('CRM answered ' + response.statusCode);
      response.resume().on('end', () => callback(null, 'SUCCESS'));
    },
  );
  request.on('error', (error) => callback(error.message, 'ERROR'));
  request.end(form.toString());
};
`;

const HTTP_AWARE = `// Behind an endpoint with is_http_aware its result is the whole HTTP response.
exports.run = (event, context, callback) => {
  const { method, path } = JSON.parse(context);
  callback(null, {
    statusCode: 200,
    headers: { 'Content-Type': 'text/plain' },
    body: method + ' ' + path,
  });
};
`;

export const STARTERS: readonly [Starter, ...Starter[]] = [
  { id: 'hello', text: 'Hello', note: 'Prints its event and returns its name.', code: HELLO },
  {
    id: 'web-form',
    text: 'Web form to CRM',
    note: 'Sends a form as a lead, which the mock CRM receives.',
    code: WEB_FORM,
    answering: { methods: ['POST'] },
    env: {
      CRM_API_BASEPATH: 'crm.example.com',
      CRM_PATH: '/servlet/servlet.WebToLead?encoding=UTF-8',
      CRM_OID: '00D5g00000XXXXX',
    },
  },
  {
    id: 'http',
    text: 'Custom HTTP response',
    note: 'Status, headers and body are its result.',
    code: HTTP_AWARE,
    answering: { is_http_aware: true },
  },
];
