import { pageQuery } from '../console/page.ts'
import { fundingQuery, fundingRecord, journalPage, statement, statementQuery } from '../console/statement.ts'
import type { ApiRoute } from './api-route.ts'
import { csv, one, page, project, route } from './console-rows.ts'

const money = route('Money')

/** What the books say of a project's money, for everybody with a grant on it (rules §7.7). */
export const consoleBooksRoutes = {
  readStatement: money(
    'GET',
    `${project}/statement`,
    'Read a statement',
    {
      200: {
        ...one(statement)[200],
        ...csv(
          'day, entry, model, calls, amount_micro and balance_micro; the first line opens and the last one closes',
          'day,entry,model,calls,amount_micro,balance_micro',
          '2026-11-01,opening,,,,4000000',
          '2026-11-20,charged,acme/swift,12,-1250,3998750',
          '2026-12-01,closing,,,,3998750',
        ),
      },
    },
    {
      query: statementQuery,
      refusals: ['invalid_request', 'statement_archived'],
      description:
        'Opening balance + funded + corrected - charged = closing balance, from the journal; a call counts on the day on which it was settled. The closing of one time is the opening of the next.',
    },
  ),
  listFundings: money(
    'GET',
    `${project}/fundings`,
    'List fundings and corrections, newest first',
    page(fundingRecord),
    {
      query: fundingQuery,
      refusals: ['invalid_request'],
    },
  ),
  listJournal: money(
    'GET',
    `${project}/journal`,
    'List the entries of the journal, newest first',
    { 200: { description: 'A page', body: journalPage } },
    {
      query: pageQuery,
      refusals: ['invalid_request'],
      description:
        'A seal is the SHA-256 of the seal before it, as bytes, and of the lines `seq kind reference reserved settled -outside` of the entries since then, joined by line feeds.',
    },
  ),
} as const satisfies Record<string, ApiRoute>
