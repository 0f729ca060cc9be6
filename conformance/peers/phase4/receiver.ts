import { delimiter, join } from 'node:path';
import type { DriverCommand } from '../driver.ts';

/**
 * Without these phase4 looks for the JAXP factories anew with every message, and finds Saxon; named, it is about four times as fast.
 */
const JAXP = Object.entries({
  'javax.xml.transform.TransformerFactory': 'com.sun.org.apache.xalan.internal.xsltc.trax.TransformerFactoryImpl',
  'javax.xml.parsers.DocumentBuilderFactory': 'com.sun.org.apache.xerces.internal.jaxp.DocumentBuilderFactoryImpl',
  'javax.xml.parsers.SAXParserFactory': 'com.sun.org.apache.xerces.internal.jaxp.SAXParserFactoryImpl',
}).map(([name, value]) => `-D${name}=${value}`);

/**
 * phase4 as a receiver, out of the folder where the peer was built.
 * @param jvm options of the virtual machine; they come last, and so overrule
 * @param inbox where payloads go
 */
export function phase4Receiver(folder: string, inbox: string, jvm: readonly string[]): DriverCommand {
  return {
    program: 'java',
    args: [
      ...JAXP,
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
      ...jvm,
      '-cp',
      [join(folder, 'classes'), join(folder, 'lib', '*')].join(delimiter),
      'interop.Receiver',
      join(folder, 'keys'),
      inbox,
    ],
    directory: folder,
  };
}
