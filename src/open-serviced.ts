import { TransportRefusal } from './as4-error.ts';
import { ServicedList } from './peppol/serviced.ts';

/** Who is serviced, also while nobody knows. */
export interface ServicedGate {
  isServiced: ServicedList['isServiced'];
  /** False while the list has never been readable: then a new message gets 503, because "not serviced" would be final. */
  ready(): boolean;
  degraded(): string | null;
  close(): void;
}

/** Opens the list, and keeps trying when it cannot be read at start (architecture §5, last rows). */
export async function openServiced(file: string): Promise<ServicedGate> {
  let list: ServicedList | null = null;
  let fault: string | null = null;
  const open = async () => {
    try {
      list = await ServicedList.load(file);
      fault = null;
      clearInterval(timer);
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
    }
  };
  const timer = setInterval(() => void open(), 2_000);
  timer.unref();
  await open();
  return {
    isServiced(participant, documentType, process) {
      if (list !== null) return list.isServiced(participant, documentType, process);
      throw new TransportRefusal(503, 'The list of those who are serviced here cannot be read now. Try again later.', {
        reason: 'serviced-unreadable',
      });
    },
    ready: () => list !== null,
    degraded: () => fault ?? list?.degraded() ?? null,
    close() {
      clearInterval(timer);
      list?.close();
    },
  };
}
