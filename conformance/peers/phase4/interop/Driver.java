package interop;

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;

import com.helger.base.debug.GlobalDebug;
import com.helger.json.IJsonObject;
import com.helger.json.JsonObject;
import com.helger.json.serialize.JsonReader;
import com.helger.phase4.crypto.AS4CryptoFactoryInMemoryKeyStore;
import com.helger.servlet.mock.MockServletContext;
import com.helger.web.scope.mgr.WebScopeManager;

/** Reads orders from stdin, one JSON object a line, and writes what phase4 makes of the answer to stdout in the same way. */
public final class Driver {
  private static final String PASSWORD = "interop";
  private static final String ALIAS = "ap";

  private Driver() {}

  /** @param args the folder with the keys */
  public static void main(String[] args) throws Exception {
    PrintStream judgements = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err); // whatever the libraries have to say is no judgement
    Path keys = Path.of(args[0]);
    WebScopeManager.onGlobalBegin(MockServletContext.create());
    GlobalDebug.setDebugModeDirect(true); // otherwise phase4 sends to https only
    try (BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      X509Certificate receiver = certificate(keys.resolve("receiver.crt"));
      for (String line; (line = orders.readLine()) != null;) {
        judgements.println(answer(keys, receiver, line).getAsJsonString());
      }
    } finally {
      WebScopeManager.onGlobalEnd();
    }
    System.exit(0); // phase4 leaves threads behind
  }

  private static JsonObject answer(Path keys, X509Certificate receiver, String line) {
    try {
      IJsonObject order = JsonReader.readFromString(line).getAsObject();
      String sender = order.getAsString("as", "sender");
      var crypto = new AS4CryptoFactoryInMemoryKeyStore(
          store(keys.resolve(sender + ".p12")), ALIAS, PASSWORD.toCharArray(), store(keys.resolve("trust.p12")));
      return new Shipment(order, crypto, receiver).send();
    } catch (Exception e) {
      e.printStackTrace();
      JsonObject failed = new JsonObject();
      failed.add("accepted", false);
      failed.add("verdict", "driver: " + e);
      failed.add("checks", new JsonObject());
      return failed;
    }
  }

  private static KeyStore store(Path file) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    return store;
  }

  private static X509Certificate certificate(Path file) throws Exception {
    try (InputStream in = Files.newInputStream(file)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }
}
