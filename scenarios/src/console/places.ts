import type { Page } from './browser.ts'

/** What the journeys touch and read, by the names that users see. */
export function placesOf(page: Page) {
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const dialog = (name: string | RegExp) => page.getByRole('dialog', { name })
  const createKey = dialog('Create key')
  const secret = dialog(/^Secret for/)
  const conflict = dialog(/was saved in the meantime$/)
  const editor = page.getByRole('banner').filter({ has: page.getByRole('navigation', { name: 'Breadcrumb' }) })
  const run = page.getByRole('region', { name: 'Details' })
  return {
    button,
    rail: (name: string) => page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name, exact: true }),
    row: (name: string) => page.getByRole('row', { name: new RegExp(`\\b${name}\\b`) }),
    signIn: { email: page.getByLabel('Email'), password: page.getByLabel('Password'), submit: button('Sign in') },
    createKey: {
      name: createKey.getByLabel('Name', { exact: true }),
      limit: createKey.getByLabel('Spending limit (USD)'),
      selected: createKey.getByLabel('Selected products'),
      product: (model: string) => createKey.getByRole('checkbox', { name: model }),
      submit: createKey.getByRole('button', { name: 'Create key' }),
    },
    secret: {
      text: secret.locator('pre').first(),
      copyCommand: secret.getByRole('button', { name: 'Copy command' }),
      done: secret.getByRole('button', { name: 'Done' }),
    },
    createFlow: {
      name: dialog('Create flow').getByLabel('Name'),
      submit: dialog('Create flow').getByRole('button', { name: 'Create flow' }),
    },
    flow: {
      node: (name: string) => page.getByRole('group', { name, exact: true }),
      /** Revision or state in the header. */
      state: (text: string | RegExp) => page.locator('.flow-header').getByText(text, { exact: true }),
      save: editor.or(page.locator('.flow-header')).getByRole('button', { name: /^Save( as draft)?$/ }),
      activate: page.getByRole('button', { name: /^(Save and activate|Activate)$/ }),
      maxTokens: page.getByLabel('Max output tokens'),
    },
    conflict: {
      mine: (part: string) => conflict.getByRole('radio', { name: `${part}: mine` }),
      submit: conflict.getByRole('button', { name: 'Save merged flow' }),
    },
    run: {
      tab: button('Run').first(),
      input: (name: string) => run.getByLabel(name, { exact: true }),
      maxCost: run.getByLabel('Max cost (USD)'),
      start: run.locator('form').getByRole('button', { name: 'Run', exact: true }),
      result: page.getByRole('region', { name: 'Result of the execution' }),
    },
  }
}
