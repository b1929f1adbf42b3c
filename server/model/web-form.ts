/** An example of a filled-in web form: the event of the CRM integration's lambda (the platform's specification). */
export const WEB_FORM = {
  payload: {
    firstName: 'Ada',
    lastName: 'Lovelace',
    company: 'Analytical Engines',
    phone: '+44 20 0000 0000',
    email: 'ada@example.com',
    title: 'Programmer',
    size: '10',
    message: 'Please call me back',
  },
} as const;
