/** What `invalidMessage` reads of a form control. */
export interface CheckedControl {
  validity: Partial<ValidityState>
  validationMessage: string
  title: string
  type: string
  min?: string
  max?: string
  minLength?: number
}

/**
 * Says what is wrong with a control, from the constraints in its markup, such as `required` or `max`. A `title` describes
 * the format that a `pattern` expects. null: it is valid.
 */
export function invalidMessage({ validity, validationMessage, title, type, ...limits }: CheckedControl): string | null {
  if (validity.valid) return null
  const { min = '', max = '', minLength = 0 } = limits
  if (validity.valueMissing) return type.startsWith('select') ? 'Choose an option.' : 'Required.'
  if (validity.badInput) return 'Enter a number.'
  if (validity.rangeUnderflow || validity.rangeOverflow) {
    if (min !== '' && max !== '') return `Enter a number from ${min} to ${max}.`
    return validity.rangeUnderflow ? `Enter ${min} or more.` : `Enter ${max} or less.`
  }
  if (validity.stepMismatch) return 'Enter a whole number.'
  if (validity.tooShort) return `Enter at least ${minLength} characters.`
  if (validity.typeMismatch && type === 'email') return 'Enter an email address.'
  if (validity.typeMismatch && type === 'url') return 'Enter a URL, such as https://example.com/hook.'
  if (validity.patternMismatch && title !== '') return title
  return validationMessage
}
