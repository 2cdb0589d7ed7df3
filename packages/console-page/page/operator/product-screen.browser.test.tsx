import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { productRecord, type ProductRecord } from '@gateway/api/console/products'
import { refuse } from '@gateway/api/refusal'
import { choose, contractExample, pageTest as test, showTabAgain } from '../page-test.fixture.tsx'

const me = { ...contractExample('readMe'), platformOperator: true }
const [example] = productRecord.meta()!.examples as [ProductRecord]
const route = (provider: string, priority: number) => ({ provider, model: 'm-1', priority })
const product: ProductRecord = {
  ...example,
  state: 'draft',
  providers: [route('alpha', 0), route('beta', 0), route('gamma', 5)],
}
const list = (...data: ProductRecord[]) => ({ ...contractExample('listProducts'), data, nextCursor: null })
const address = `/operator/products/${encodeURIComponent(product.id)}`

const { pricing } = product
const repriced = { ...product, pricing: { ...pricing, completion: '0.000099' } }

const tooHigh = { reason: 'The price is above the input price.', resolution: 'Lower it.' }

const providerNames = () =>
  [...document.querySelectorAll<HTMLInputElement>('.route .combo input')].map(({ value }) => value)

test('an operator fills in a product from a known model, and the form asks before it replaces what was typed', async ({
  api,
  open,
}) => {
  api.answer('readMe', me)
  const { screen, address: at } = await open('/operator/products/-/new')
  const picker = screen.getByRole('combobox', { name: 'Start from a known model' })
  const field = (name: string) => screen.getByRole('textbox', { name, exact: true })
  await picker.fill('nova lite')
  await page.getByRole('option', { name: /Nova Lite/ }).click()
  await expect.element(field('Model ID')).toHaveValue('amazon/nova-lite')
  await expect.element(field('Input tokens ($/1M)')).toHaveValue('0.06')
  await expect.element(screen.getByText(/Check these figures with the provider/)).toBeVisible()
  await expect.element(screen.getByText('Input margin 0%, Output margin 0%')).toBeVisible()
  await expect.element(screen.getByText('No running process has bedrock configured', { exact: false })).toBeVisible()

  await field('Input tokens ($/1M)').fill('0.05')
  await expect.element(screen.getByText('Price below cost')).toBeVisible()
  await picker.fill('GPT-4.1')
  await page.getByRole('option', { name: /GPT-4\.1/ }).click()
  await screen.getByRole('dialog').getByRole('button', { name: 'Keep' }).click()
  await expect.element(field('Input tokens ($/1M)')).toHaveValue('0.05')

  api.answer('createProduct', ({ id }) => ({ ...product, id }))
  api.answer('listProducts', list({ ...product, id: 'amazon/nova-lite' }))
  await screen.getByRole('button', { name: 'Save draft' }).click()
  await expect.poll(() => at().pathname).toBe('/operator/products/amazon%2Fnova-lite')
  await expect.element(screen.getByText(/Only operators see this product/)).toBeVisible()
  expect(api.asked('createProduct').at(-1)?.body).toMatchObject({
    id: 'amazon/nova-lite',
    state: 'draft',
    pricing: { prompt: '0.00000005', completion: '0.00000024' },
    providers: [{ provider: 'bedrock', cost: { prompt: '0.00000006', completion: '0.00000024' } }],
  })
})

test('the form of a new product takes the address of no product, and stays under Products in the rail', async ({
  api,
  open,
}) => {
  api.answer('readMe', me)
  api.answer('listProducts', list({ ...product, id: 'new', name: 'Brand new' }))
  const { screen, goTo } = await open('/operator/products/new')
  await expect.element(screen.getByRole('heading', { name: 'Brand new', level: 1 })).toBeVisible()
  await goTo('/operator/products/-/new')
  await expect.element(screen.getByRole('heading', { name: 'New product', level: 1 })).toBeVisible()
  const rail = screen.getByRole('navigation', { name: 'Console' })
  await expect.element(rail.getByRole('link', { name: 'Products' })).toHaveAttribute('aria-current', 'page')
})

test('shared priorities survive an edit, and reordering numbers the providers', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('listProducts', list(product))
  api.answer('changeProduct', (patch) => {
    const stored = { ...product, ...(patch as object) }
    api.answer('listProducts', list(stored))
    return stored
  })
  const { screen } = await open(address)
  await screen.getByRole('textbox', { name: 'Name', exact: true }).fill('Swifter')
  await screen.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.poll(() => api.asked('changeProduct').at(-1)?.body).toEqual({ name: 'Swifter' })
  await expect.element(screen.getByText('All changes saved')).toBeVisible()

  const third = screen.getByRole('group', { name: 'Provider 3', exact: true })
  await third.getByRole('textbox', { name: 'Provider model' }).click()
  await userEvent.keyboard('{Alt>}{ArrowUp}{/Alt}')
  expect(providerNames()).toEqual(['alpha', 'gamma', 'beta'])
  await expect.element(screen.getByText('gamma moved to position 2 of 3.')).toBeInTheDocument()
  await userEvent.keyboard('{Alt>}{ArrowUp}{/Alt}') // the row kept the focus
  expect(providerNames()).toEqual(['gamma', 'alpha', 'beta'])
  await screen.getByRole('button', { name: 'Move provider 1 down' }).click()
  await screen.getByRole('button', { name: 'Save and publish' }).click()
  await screen.getByRole('dialog').getByRole('button', { name: 'Publish product' }).click()
  await expect
    .poll(() => api.asked('changeProduct').at(-1)?.body)
    .toEqual({
      state: 'published',
      providers: [route('alpha', 1), route('gamma', 2), route('beta', 3)],
    })
})

test('saving and publishing asks with the typed prices first, and a refusal leads back to the form', async ({
  api,
  open,
}) => {
  api.answer('readMe', me)
  api.answer('listProducts', list(product))
  api.answer('changeProduct', refuse('invalid_request', tooHigh, { param: 'pricing.prompt' }))
  const { screen } = await open(address)
  const input = screen.getByRole('textbox', { name: 'Input tokens ($/1M)', exact: true })
  await input.fill('7.5')
  const publish = screen.getByRole('button', { name: 'Save and publish' })
  const question = screen.getByRole('dialog', { name: `Publish ${product.name}?` })
  await publish.click()
  await expect.element(question.getByText(/\$7\.5/)).toBeVisible()
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(api.asked('changeProduct')).toEqual([])
  await expect.element(input).toHaveValue('7.5')

  await publish.click()
  await question.getByRole('button', { name: 'Publish product' }).click()
  await expect.element(screen.getByRole('alert')).toBeVisible()
  await expect.element(question).not.toBeInTheDocument()
  await expect.element(input).toHaveFocus()
  expect(api.asked('changeProduct').at(-1)?.body).toMatchObject({ state: 'published' })
})

test('publishing asks again after another operator changed the product while it was being confirmed', async ({
  api,
  open,
}) => {
  api.answer('readMe', me)
  api.answer('listProducts', list(product))
  api.answer('changeProduct', (patch) => ({ ...product, ...(patch as object) }))
  const { screen } = await open(address)
  await screen.getByRole('textbox', { name: 'Input tokens ($/1M)', exact: true }).fill('7.5')
  const publish = screen.getByRole('button', { name: 'Save and publish' })
  const question = screen.getByRole('dialog', { name: `Publish ${product.name}?` })
  await publish.click()
  api.answer('listProducts', list(repriced))
  await question.getByRole('button', { name: 'Publish product' }).click()
  await expect.element(screen.getByRole('alert').getByText(/Another user changed this/)).toBeVisible()
  await expect.element(screen.getByText('Not saved')).toBeVisible()
  expect(api.asked('changeProduct')).toEqual([])

  await publish.click()
  await expect.element(question.getByText(/\$99/)).toBeVisible()
  await question.getByRole('button', { name: 'Publish product' }).click()
  await expect
    .poll(() => api.asked('changeProduct').at(-1)?.body)
    .toEqual({ state: 'published', pricing: { ...repriced.pricing, prompt: '0.0000075' } })
})

test('publishing from the list asks again after another operator changed the price', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('listProducts', list(product))
  const { screen } = await open('/operator/products')
  await screen.getByRole('button', { name: `Actions for ${product.name}` }).click()
  await page.getByRole('menuitem', { name: 'Publish' }).click()
  const question = screen.getByRole('dialog', { name: `Publish ${product.name}?` })
  api.answer('listProducts', list(repriced))
  await question.getByRole('button', { name: 'Publish product' }).click()
  await expect.element(question.getByText(/Another user changed this/)).toBeVisible()
  await expect.element(question.getByText(/\$99/)).toBeVisible()
  expect(api.asked('changeProduct')).toEqual([])
  await question.getByRole('button', { name: 'Publish product' }).click()
  await expect.poll(() => api.asked('changeProduct').at(-1)?.body).toEqual({ state: 'published' })
})

test('a row dragged by its handle takes the place where it is dropped, and Escape puts it back', async ({
  api,
  open,
}) => {
  api.answer('readMe', me)
  api.answer('listProducts', list(product))
  await open(address)
  await expect.poll(providerNames).toEqual(['alpha', 'beta', 'gamma'])
  const send = (target: EventTarget, type: string, clientY: number) =>
    target.dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, button: 0, clientY }))
  const handle = (n: number) => document.querySelectorAll('.route-handle')[n]!
  const { bottom } = document.querySelector('.routes')!.getBoundingClientRect()
  send(handle(0), 'pointerdown', 0)
  await expect.poll(() => document.querySelector('.route.dragged')).not.toBe(null)
  send(document, 'pointermove', bottom)
  await expect.poll(providerNames).toEqual(['beta', 'gamma', 'alpha'])
  await userEvent.keyboard('{Escape}')
  await expect.poll(providerNames).toEqual(['alpha', 'beta', 'gamma'])

  send(handle(0), 'pointerdown', 0)
  await expect.poll(() => document.querySelector('.route.dragged')).not.toBe(null)
  send(document, 'pointermove', bottom)
  await expect.poll(providerNames).toEqual(['beta', 'gamma', 'alpha'])
  send(document, 'pointerup', bottom)
  await expect.poll(() => document.querySelector('.route.dragged')).toBe(null)
  expect(providerNames()).toEqual(['beta', 'gamma', 'alpha'])
})

test('typed text survives a failed save and a refetch, the refused field takes the focus, and leaving asks', async ({
  api,
  open,
}) => {
  api.answer('readMe', me)
  api.answer('listProducts', list(product))
  const { screen, address: at, goTo } = await open(address)
  const input = screen.getByRole('textbox', { name: 'Input tokens ($/1M)', exact: true })
  await input.fill('cheap')
  await screen.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.element(input).toHaveFocus()
  await expect.element(screen.getByText(/Enter an amount such as 5/)).toBeVisible()
  expect(api.asked('changeProduct')).toEqual([])

  await input.fill('3')
  api.answer('changeProduct', refuse('invalid_request', tooHigh, { param: 'pricing.cachedPrompt' }))
  await screen.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.element(screen.getByRole('alert')).toBeVisible()
  await expect.element(screen.getByRole('textbox', { name: 'Cached input tokens ($/1M)' })).toHaveFocus()

  const output = screen.getByRole('textbox', { name: 'Output tokens ($/1M)', exact: true })
  const name = screen.getByRole('textbox', { name: 'Name', exact: true })
  const changedToo = screen.getByText(/Another operator changed/)
  const elsewhere = { ...product, name: 'Renamed elsewhere', pricing: { ...pricing, completion: '0.000012' } }
  await name.fill('Renamed here')
  api.answer('listProducts', list(elsewhere))
  showTabAgain()
  await expect.element(output).toHaveValue('12')
  await expect.element(input).toHaveValue('3')
  await expect.element(screen.getByRole('region', { name: 'Identity' }).getByText(/Another operator/)).toBeVisible()
  await expect.element(name).toHaveValue('Renamed here')
  await name.fill('Renamed elsewhere')
  await expect.element(changedToo).not.toBeInTheDocument()
  api.answer('changeProduct', (patch) => ({ ...elsewhere, ...(patch as object) }))
  await screen.getByRole('button', { name: 'Save', exact: true }).click()
  await expect
    .poll(() => api.asked('changeProduct').at(-1)?.body)
    .toEqual({ pricing: { ...pricing, prompt: '0.000003', completion: '0.000012' } })
  await expect.element(screen.getByText('All changes saved')).toBeVisible()

  await input.fill('4')
  void goTo('/operator/products')
  await screen.getByRole('dialog', { name: 'Unsaved changes' }).getByRole('button', { name: 'Stay' }).click()
  expect(at().pathname).toBe(address)
  await expect.element(input).toHaveValue('4')
})

test('saving keeps what another operator saved since the product was read, and warns before it replaces it', async ({
  api,
  open,
}) => {
  api.answer('readMe', me)
  api.answer('listProducts', list(product))
  let stored: ProductRecord = product
  const store = (part: object) => api.answer('listProducts', list((stored = { ...stored, ...part })))
  api.answer('changeProduct', (patch) => {
    store(patch)
    return stored
  })
  const { screen } = await open(address)
  const save = screen.getByRole('button', { name: 'Save', exact: true })
  const sent = () => api.asked('changeProduct').map(({ body }) => body)
  await screen.getByRole('textbox', { name: 'Input tokens ($/1M)', exact: true }).fill('3')
  store({ pricing: { ...pricing, completion: '0.000012' } })
  await save.click()
  const first = { pricing: { ...pricing, prompt: '0.000003', completion: '0.000012' } }
  await expect.poll(sent).toEqual([first])
  await expect.element(screen.getByText('All changes saved')).toBeVisible()

  await screen.getByRole('textbox', { name: 'Name', exact: true }).fill('Renamed here')
  store({ name: 'Renamed elsewhere' })
  await save.click()
  await expect.element(screen.getByRole('region', { name: 'Identity' }).getByText(/Another operator/)).toBeVisible()
  await expect.element(screen.getByText("Unsaved changes replace another operator's")).toBeVisible()
  expect(sent()).toEqual([first])
  await save.click()
  await expect.poll(sent).toEqual([first, { name: 'Renamed here' }])
})

test('an untouched form shows what another operator saves', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('listProducts', list(product))
  const { screen } = await open(address)
  const name = screen.getByRole('textbox', { name: 'Name', exact: true })
  await expect.element(name).toHaveValue(product.name)
  api.answer('listProducts', list({ ...product, name: 'Renamed elsewhere' }))
  showTabAgain()
  await expect.element(name).toHaveValue('Renamed elsewhere')
  await expect.element(screen.getByText('All changes saved')).toBeVisible()
})

test('a product is the template of a new one, which needs an ID', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('listProducts', list(product))
  const { screen } = await open('/operator/products')
  await screen.getByRole('button', { name: `Actions for ${product.name}` }).click()
  await page.getByRole('menuitem', { name: 'Use as template' }).click()
  const id = screen.getByRole('textbox', { name: 'Model ID' })
  await expect.element(id).toHaveValue('')
  expect(providerNames()).toEqual(['alpha', 'beta', 'gamma'])
  await screen.getByRole('button', { name: 'Save draft' }).click()
  await expect.element(id).toHaveFocus()
  expect(api.asked('createProduct')).toEqual([])
  await choose(screen.getByRole('combobox', { name: 'Kind' }), 'Images')
  await expect.element(screen.getByRole('textbox', { name: 'Price per image ($)' })).toBeVisible()
})

test('a user without the operator role sees an error, and nothing is requested [not_permitted]', async ({
  api,
  open,
}) => {
  const { screen } = await open(address)
  await expect.element(screen.getByRole('alert')).toBeVisible()
  expect(api.asked('listProducts')).toEqual([])
})
