"""Nouns of the demo world, by what they denote.

One per line: English [plural] | French gender [plural] | German gender plural [w: weak declension] |
Finnish nominative [inflecting stem]. The stem carries every Finnish ending that the fragment uses.
"""

PEOPLE = """
teacher|professeur m|Lehrer m Lehrer|opettaja
doctor|médecin m|Arzt m Ärzte|lääkäri
farmer|fermier m|Bauer m Bauern w|maanviljelijä
baker|boulanger m|Bäcker m Bäcker|leipuri
singer|chanteur m|Sänger m Sänger|laulaja
painter|peintre m|Maler m Maler|maalari
writer|écrivain m|Schriftsteller m Schriftsteller|kirjailija
student|étudiant m|Student m Studenten w|opiskelija
nurse|infirmière f|Krankenschwester f Krankenschwestern|sairaanhoitaja
lawyer|avocat m|Anwalt m Anwälte|asianajaja
judge|juge m|Richter m Richter|tuomari
soldier|soldat m|Soldat m Soldaten w|sotilas sotilaa
sailor|marin m|Matrose m Matrosen w|merimies merimiehe
pilot|pilote m|Pilot m Piloten w|lentäjä
driver|chauffeur m|Fahrer m Fahrer|kuljettaja
cook|cuisinier m|Koch m Köche|kokki koki
waiter|serveur m|Kellner m Kellner|tarjoilija
neighbour|voisin m|Nachbar m Nachbarn w|naapuri
child children|enfant m|Kind n Kinder|lapsi lapse
boy|garçon m|Junge m Jungen w|poika poja
girl|fille f|Mädchen n Mädchen|tyttö tytö
man men|homme m|Mann m Männer|mies miehe
woman women|femme f|Frau f Frauen|nainen naise
engineer|ingénieur m|Ingenieur m Ingenieure|insinööri
musician|musicien m|Musiker m Musiker|muusikko muusiko
mechanic|mécanicien m|Mechaniker m Mechaniker|mekaanikko mekaaniko
carpenter|menuisier m|Tischler m Tischler|puuseppä puusepä
gardener|jardinier m|Gärtner m Gärtner|puutarhuri
butcher|boucher m|Metzger m Metzger|teurastaja
fisherman fishermen|pêcheur m|Fischer m Fischer|kalastaja
hunter|chasseur m|Jäger m Jäger|metsästäjä
king|roi m|König m Könige|kuningas kuninkaa
queen|reine f|Königin f Königinnen|kuningatar kuningattare
guest|invité m|Gast m Gäste|vieras vieraa
friend|ami m|Freund m Freunde|ystävä
brother|frère m|Bruder m Brüder|veli velje
sister|sœur f|Schwester f Schwestern|sisko
mother|mère f|Mutter f Mütter|äiti äidi
father|père m|Vater m Väter|isä
uncle|oncle m|Onkel m Onkel|setä sedä
aunt|tante f|Tante f Tanten|täti tädi
thief thieves|voleur m|Dieb m Diebe|varas varkaa
tourist|touriste m|Tourist m Touristen w|turisti
actor|acteur m|Schauspieler m Schauspieler|näyttelijä
dancer|danseur m|Tänzer m Tänzer|tanssija
poet|poète m|Dichter m Dichter|runoilija
scientist|chercheur m|Forscher m Forscher|tutkija
librarian|bibliothécaire m|Bibliothekar m Bibliothekare|kirjastonhoitaja
journalist|journaliste m|Journalist m Journalisten w|toimittaja
secretary secretaries|secrétaire m|Sekretär m Sekretäre|sihteeri
director|directeur m|Direktor m Direktoren|johtaja
merchant|marchand m|Händler m Händler|kauppias kauppiaa
patient|patient m|Patient m Patienten w|potilas potilaa
passenger|passager m|Passagier m Passagiere|matkustaja
barber|coiffeur m|Friseur m Friseure|parturi
shepherd|berger m|Hirte m Hirten w|paimen paimene
"""
ANIMALS = """
dog|chien m|Hund m Hunde|koira
cat|chat m|Katze f Katzen|kissa
horse|cheval m chevaux|Pferd n Pferde|hevonen hevose
cow|vache f|Kuh f Kühe|lehmä
sheep sheep|mouton m|Schaf n Schafe|lammas lampaa
goat|chèvre f|Ziege f Ziegen|vuohi vuohe
pig|cochon m|Schwein n Schweine|sika sia
hen|poule f|Henne f Hennen|kana
duck|canard m|Ente f Enten|ankka anka
goose geese|oie f|Gans f Gänse|hanhi hanhe
bird|oiseau m oiseaux|Vogel m Vögel|lintu linnu
fox foxes|renard m|Fuchs m Füchse|kettu ketu
wolf wolves|loup m|Wolf m Wölfe|susi sude
bear|ours m|Bär m Bären w|karhu
rabbit|lapin m|Kaninchen n Kaninchen|kani
mouse mice|souris f|Maus f Mäuse|hiiri hiire
donkey|âne m|Esel m Esel|aasi
owl|chouette f|Eule f Eulen|pöllö
frog|grenouille f|Frosch m Frösche|sammakko sammako
snake|serpent m|Schlange f Schlangen|käärme käärmee
eagle|aigle m|Adler m Adler|kotka
lion|lion m|Löwe m Löwen w|leijona
monkey|singe m|Affe m Affen w|apina
elephant|éléphant m|Elefant m Elefanten w|norsu
squirrel|écureuil m|Eichhörnchen n Eichhörnchen|orava
tiger|tigre m|Tiger m Tiger|tiikeri
camel|chameau m chameaux|Kamel n Kamele|kameli
deer deer|cerf m|Hirsch m Hirsche|hirvi hirve
swan|cygne m|Schwan m Schwäne|joutsen joutsene
crow|corneille f|Krähe f Krähen|varis varikse
bee|abeille f|Biene f Bienen|mehiläinen mehiläise
spider|araignée f|Spinne f Spinnen|hämähäkki hämähäki
fish fish|poisson m|Fisch m Fische|kala
turtle|tortue f|Schildkröte f Schildkröten|kilpikonna
parrot|perroquet m|Papagei m Papageien w|papukaija
"""
FOOD = """
apple|pomme f|Apfel m Äpfel|omena
pear|poire f|Birne f Birnen|päärynä
cake|gâteau m gâteaux|Kuchen m Kuchen|kakku kaku
bread|pain m|Brot n Brote|leipä leivä
cheese|fromage m|Käse m Käse|juusto
egg|œuf m|Ei n Eier|muna
potato potatoes|pomme_de_terre f pommes_de_terre|Kartoffel f Kartoffeln|peruna
tomato tomatoes|tomate f|Tomate f Tomaten|tomaatti tomaati
carrot|carotte f|Karotte f Karotten|porkkana
onion|oignon m|Zwiebel f Zwiebeln|sipuli
soup|soupe f|Suppe f Suppen|keitto keito
sausage|saucisse f|Wurst f Würste|makkara
sandwich sandwiches|sandwich m|Butterbrot n Butterbrote|voileipä voileivä
pancake|crêpe f|Pfannkuchen m Pfannkuchen|lettu letu
biscuit|biscuit m|Keks m Kekse|keksi
orange|orange f|Orange f Orangen|appelsiini
lemon|citron m|Zitrone f Zitronen|sitruuna
cherry cherries|cerise f|Kirsche f Kirschen|kirsikka kirsika
plum|prune f|Pflaume f Pflaumen|luumu
strawberry strawberries|fraise f|Erdbeere f Erdbeeren|mansikka mansika
mushroom|champignon m|Pilz m Pilze|sieni siene
salad|salade f|Salat m Salate|salaatti salaati
pie|tarte f|Torte f Torten|piirakka piiraka
nut|noix f|Nuss f Nüsse|pähkinä
meal|repas m|Mahlzeit f Mahlzeiten|ateria
banana|banane f|Banane f Bananen|banaani
grape|raisin m|Traube f Trauben|rypäle rypälee
melon|melon m|Melone f Melonen|meloni
cucumber|concombre m|Gurke f Gurken|kurkku kurku
pumpkin|citrouille f|Kürbis m Kürbisse|kurpitsa
cabbage|chou m choux|Kohl m Kohle|kaali
steak|bifteck m|Steak n Steaks|pihvi
dessert|dessert m|Nachtisch m Nachtische|jälkiruoka jälkiruoa
pepper|poivron m|Paprika f Paprikas|paprika
olive|olive f|Olive f Oliven|oliivi
"""
TOOLS = """
hammer|marteau m marteaux|Hammer m Hämmer|vasara
saw|scie f|Säge f Sägen|saha
knife knives|couteau m couteaux|Messer n Messer|veitsi veitse
axe|cognée f|Axt f Äxte|kirves kirvee
rope|corde f|Seil n Seile|köysi köyde
ladder|échelle f|Leiter f Leitern|tikas tikkaa
shovel|pelle f|Schaufel f Schaufeln|lapio
bucket|seau m seaux|Eimer m Eimer|ämpäri
brush brushes|brosse f|Bürste f Bürsten|harja
key|clé f|Schlüssel m Schlüssel|avain avaime
lamp|lampe f|Lampe f Lampen|lamppu lampu
clock|horloge f|Uhr f Uhren|kello
camera|caméra f|Kamera f Kameras|kamera
machine|machine f|Maschine f Maschinen|kone konee
engine|moteur m|Motor m Motoren|moottori
wheel|roue f|Rad n Räder|pyörä
pump|pompe f|Pumpe f Pumpen|pumppu pumpu
needle|aiguille f|Nadel f Nadeln|neula
basket|panier m|Korb m Körbe|kori
box boxes|boîte f|Kiste f Kisten|laatikko laatiko
bottle|bouteille f|Flasche f Flaschen|pullo
cup|tasse f|Tasse f Tassen|kuppi kupi
plate|assiette f|Teller m Teller|lautanen lautase
pot|marmite f|Topf m Töpfe|kattila
mirror|miroir m|Spiegel m Spiegel|peili
candle|bougie f|Kerze f Kerzen|kynttilä
screw|vis f|Schraube f Schrauben|ruuvi
nail|clou m|Nagel m Nägel|naula
fork|fourchette f|Gabel f Gabeln|haarukka haaruka
spoon|cuillère f|Löffel m Löffel|lusikka lusika
umbrella|parapluie m|Regenschirm m Regenschirme|sateenvarjo
pencil|crayon m|Bleistift m Bleistifte|lyijykynä
pen|stylo m|Stift m Stifte|kynä
telephone|téléphone m|Telefon n Telefone|puhelin puhelime
computer|ordinateur m|Computer m Computer|tietokone tietokonee
battery batteries|batterie f|Batterie f Batterien|akku aku
net|filet m|Netz n Netze|verkko verko
drill|perceuse f|Bohrer m Bohrer|pora
"""
FURNITURE = """
table|table f|Tisch m Tische|pöytä pöydä
chair|chaise f|Stuhl m Stühle|tuoli
bed|lit m|Bett n Betten|sänky sängy
shelf shelves|étagère f|Regal n Regale|hylly
door|porte f|Tür f Türen|ovi ove
window|fenêtre f|Fenster n Fenster|ikkuna
bench benches|banc m|Bank f Bänke|penkki penki
sofa|canapé m|Sofa n Sofas|sohva
cupboard|armoire f|Schrank m Schränke|kaappi kaapi
carpet|tapis m|Teppich m Teppiche|matto mato
wall|mur m|Mauer f Mauern|muuri
fence|clôture f|Zaun m Zäune|aita aida
gate|portail m|Tor n Tore|portti porti
roof|toit m|Dach n Dächer|katto kato
stove|poêle m|Ofen m Öfen|uuni
drawer|tiroir m|Schublade f Schubladen|vetolaatikko vetolaatiko
curtain|rideau m rideaux|Vorhang m Vorhänge|verho
bridge|pont m|Brücke f Brücken|silta silla
stair|escalier m|Treppe f Treppen|porras portaa
chimney|cheminée f|Schornstein m Schornsteine|savupiippu savupiipu
desk|pupitre m|Schreibtisch m Schreibtische|kirjoituspöytä kirjoituspöydä
"""
TEXTS = """
book|livre m|Buch n Bücher|kirja
letter|lettre f|Brief m Briefe|kirje kirjee
story stories|histoire f|Geschichte f Geschichten|tarina
poem|poème m|Gedicht n Gedichte|runo
newspaper|journal m journaux|Zeitung f Zeitungen|sanomalehti sanomalehde
report|rapport m|Bericht m Berichte|raportti raporti
contract|contrat m|Vertrag m Verträge|sopimus sopimukse
map|carte f|Karte f Karten|kartta karta
dictionary dictionaries|dictionnaire m|Wörterbuch n Wörterbücher|sanakirja
novel|roman m|Roman m Romane|romaani
message|message m|Nachricht f Nachrichten|viesti
article|article m|Artikel m Artikel|artikkeli
document|document m|Dokument n Dokumente|asiakirja
list|liste f|Liste f Listen|lista
diary diaries|cahier m|Tagebuch n Tagebücher|päiväkirja
recipe|recette f|Rezept n Rezepte|resepti
law|loi f|Gesetz n Gesetze|laki lai
answer|réponse f|Antwort f Antworten|vastaus vastaukse
question|question f|Frage f Fragen|kysymys kysymykse
note|note f|Notiz f Notizen|muistiinpano
card|carte f|Karte f Karten|kortti korti
ticket|billet m|Fahrkarte f Fahrkarten|lippu lipu
speech speeches|discours m|Rede f Reden|puhe puhee
essay|essai m|Aufsatz m Aufsätze|essee
magazine|magazine m|Zeitschrift f Zeitschriften|aikakauslehti aikakauslehde
textbook|manuel m|Lehrbuch n Lehrbücher|oppikirja
plan|plan m|Plan m Pläne|suunnitelma
proposal|proposition f|Vorschlag m Vorschläge|ehdotus ehdotukse
"""
VEHICLES = """
car|voiture f|Auto n Autos|auto
train|train m|Zug m Züge|juna
bus buses|bus m|Bus m Busse|bussi
boat|bateau m bateaux|Boot n Boote|vene venee
ship|navire m|Schiff n Schiffe|laiva
bicycle|vélo m|Fahrrad n Fahrräder|polkupyörä
truck|camion m|Lastwagen m Lastwagen|kuorma-auto
plane|avion m|Flugzeug n Flugzeuge|lentokone lentokonee
tractor|tracteur m|Traktor m Traktoren|traktori
cart|charrette f|Karren m Karren|kärry
sledge|luge f|Schlitten m Schlitten|reki ree
taxi|taxi m|Taxi n Taxis|taksi
motorcycle|moto f|Motorrad n Motorräder|moottoripyörä
tram|tramway m|Straßenbahn f Straßenbahnen|raitiovaunu
helicopter|hélicoptère m|Hubschrauber m Hubschrauber|helikopteri
ferry ferries|traversier m|Fähre f Fähren|lautta lauta
van|camionnette f|Lieferwagen m Lieferwagen|pakettiauto
"""
INSTRUMENTS = """
piano|piano m|Klavier n Klaviere|piano
guitar|guitare f|Gitarre f Gitarren|kitara
violin|violon m|Geige f Geigen|viulu
flute|flûte f|Flöte f Flöten|huilu
drum|tambour m|Trommel f Trommeln|rumpu rummu
trumpet|trompette f|Trompete f Trompeten|trumpetti trumpeti
song|chanson f|Lied n Lieder|laulu
melody melodies|mélodie f|Melodie f Melodien|sävelmä
concert|concert m|Konzert n Konzerte|konsertti konserti
picture|tableau m tableaux|Bild n Bilder|kuva
statue|statue f|Statue f Statuen|patsas patsaa
film|film m|Film m Filme|elokuva
"""
CLOTHES = """
coat|manteau m manteaux|Mantel m Mäntel|takki taki
shirt|chemise f|Hemd n Hemden|paita paida
hat|chapeau m chapeaux|Hut m Hüte|hattu hatu
shoe|chaussure f|Schuh m Schuhe|kenkä kengä
dress dresses|robe f|Kleid n Kleider|mekko meko
scarf scarves|écharpe f|Schal m Schals|huivi
glove|gant m|Handschuh m Handschuhe|käsine käsinee
jacket|veste f|Jacke f Jacken|nuttu nutu
skirt|jupe f|Rock m Röcke|hame hamee
bag|sac m|Tasche f Taschen|laukku lauku
ring|bague f|Ring m Ringe|sormus sormukse
blanket|couverture f|Decke f Decken|peitto peito
sweater|pull m|Pullover m Pullover|villapaita villapaida
boot|botte f|Stiefel m Stiefel|saapas saappaa
belt|ceinture f|Gürtel m Gürtel|vyö
tie|cravate f|Krawatte f Krawatten|solmio
cap|casquette f|Mütze f Mützen|lakki laki
suit|costume m|Anzug m Anzüge|puku puvu
towel|serviette f|Handtuch n Handtücher|pyyhe pyyhkee
pillow|oreiller m|Kissen n Kissen|tyyny
"""
PLANTS = """
tree|arbre m|Baum m Bäume|puu
flower|fleur f|Blume f Blumen|kukka kuka
rose|rose f|Rose f Rosen|ruusu
bush bushes|buisson m|Busch m Büsche|pensas pensaa
leaf leaves|feuille f|Blatt n Blätter|lehti lehde
seed|graine f|Samen m Samen|siemen siemene
plant|plante f|Pflanze f Pflanzen|kasvi
birch birches|bouleau m bouleaux|Birke f Birken|koivu
oak|chêne m|Eiche f Eichen|tammi tamme
tulip|tulipe f|Tulpe f Tulpen|tulppaani
pine|pin m|Kiefer f Kiefern|mänty männy
lily lilies|lys m|Lilie f Lilien|lilja
fern|fougère f|Farn m Farne|saniainen saniaise
branch branches|branche f|Ast m Äste|oksa
herb|herbe f|Kraut n Kräuter|yrtti yrti
root|racine f|Wurzel f Wurzeln|juuri juure
berry berries|baie f|Beere f Beeren|marja
"""
PLACES = """
garden|jardin m|Garten m Gärten|puutarha
house|maison f|Haus n Häuser|talo
kitchen|cuisine f|Küche f Küchen|keittiö
school|école f|Schule f Schulen|koulu
hospital|hôpital m hôpitaux|Krankenhaus n Krankenhäuser|sairaala
church churches|église f|Kirche f Kirchen|kirkko kirko
village|village m|Dorf n Dörfer|kylä
town|ville f|Stadt f Städte|kaupunki kaupungi
forest|forêt f|Wald m Wälder|metsä
park|parc m|Park m Parks|puisto
office|bureau m bureaux|Büro n Büros|toimisto
shop|magasin m|Laden m Läden|kauppa kaupa
hotel|hôtel m|Hotel n Hotels|hotelli
museum|musée m|Museum n Museen|museo
library libraries|bibliothèque f|Bibliothek f Bibliotheken|kirjasto
theatre|théâtre m|Theater n Theater|teatteri
station|gare f|Bahnhof m Bahnhöfe|asema
castle|château m châteaux|Schloss n Schlösser|linna
barn|grange f|Scheune f Scheunen|lato lado
workshop|atelier m|Werkstatt f Werkstätten|verstas verstaa
restaurant|restaurant m|Restaurant n Restaurants|ravintola
factory factories|usine f|Fabrik f Fabriken|tehdas tehtaa
valley|vallée f|Tal n Täler|laakso
cellar|cave f|Keller m Keller|kellari
tower|tour f|Turm m Türme|torni
harbour|port m|Hafen m Häfen|satama
room|chambre f|Zimmer n Zimmer|huone huonee
cabin|cabane f|Hütte f Hütten|mökki möki
field|champ m|Feld n Felder|pelto pello
market|marché m|Markthalle f Markthallen|kauppahalli
bakery bakeries|boulangerie f|Bäckerei f Bäckereien|leipomo
bank|banque f|Bank f Banken|pankki panki
prison|prison f|Gefängnis n Gefängnisse|vankila
university universities|université f|Universität f Universitäten|yliopisto
stable|écurie f|Stall m Ställe|talli
square|place f|Platz m Plätze|aukio
corridor|couloir m|Flur m Flure|käytävä
courtyard|cour f|Hof m Höfe|sisäpiha
pharmacy pharmacies|pharmacie f|Apotheke f Apotheken|apteekki apteeki
palace|palais m|Palast m Paläste|palatsi
"""
CLASSES = {
    "person": PEOPLE,
    "animal": ANIMALS,
    "food": FOOD,
    "tool": TOOLS,
    "furniture": FURNITURE,
    "text": TEXTS,
    "vehicle": VEHICLES,
    "art": INSTRUMENTS,
    "clothes": CLOTHES,
    "plant": PLANTS,
    "place": PLACES,
}
