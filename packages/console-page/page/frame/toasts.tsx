import { Toast } from '@base-ui/react/toast'
import { Icon } from '../components/icon.tsx'
import { toastManager } from './announcer.ts'

/** Toasts in the corner of the page. Each leaves after five seconds, unless the mouse or the focus is on one. */
export function Toasts() {
  return (
    <Toast.Provider toastManager={toastManager}>
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  return Toast.useToastManager().toasts.map((toast) => (
    // Not a dialog, as the library has it: nothing is asked, and its text is read as a live region.
    <Toast.Root
      key={toast.id}
      toast={toast}
      role="group"
      aria-modal={undefined}
      className="toast"
      swipeDirection={['right', 'down']}
    >
      <Icon name="check" />
      <span>{toast.title}</span>
      <Toast.Close className="button quiet icon-only" aria-label="Dismiss" aria-hidden={false}>
        <Icon name="close" />
      </Toast.Close>
    </Toast.Root>
  ))
}
